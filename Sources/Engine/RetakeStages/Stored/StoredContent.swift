package import RetakeCore

/// The content of a file of stored detections.
package struct StoredContent: Sendable {
  /// The parts of a file by which an error names a box.
  package enum Unit: Sendable {
    case line
    /// The elements of the array at this JSON pointer.
    case element(String)
    case frame

    package func words(_ place: Int) -> String {
      switch self {
      case .line: "line \(place)"
      case .element(let pointer): "\(pointer)/\(place)"
      case .frame: "a box"
      }
    }
  }

  /// By frame; of track 0 if the file names no tracks.
  package var frames: [FrameID: StoredFrame] = [:]
  package var classNames: [String] = []
  package var unit = Unit.line
  /// Whether the file is of a run of Retake: it names tracks, and has each captured frame.
  package var isOfRun = false
  /// The file's number of frame 0; `nil` if the file does not number its frames.
  var firstFrame: Int?
  /// The number of frames, if the file lists them all.
  package var frameCount: Int?
  /// The images that a COCO file lists, by the sequence of their frame; `nil` for other files.
  package var images: [Int: StoredImage]?
  /// The `info` of a COCO file.
  package var info: JSONValue?
  /// The first annotation of a COCO file that is not an object, but a region to ignore.
  var region: String?

  init() {}

  /// Reads a file that a `detections` node may name.
  ///
  /// - Throws: `StoredError`, `OptionError`.
  package init(reading options: StoredOptions) throws {
    self = try StoredFile.file(options, at: { $0 }).content
  }

  /// Adds a box to a frame of track 0.
  ///
  /// - Parameters:
  ///   - place: The line or the element, to name it in an error.
  ///   - size: Width and height of the frame in pixels; `nil` if the file does not say.
  mutating func add(
    _ detection: Detection, sequence: Int, place: Int, size: [Int]? = nil, note: StoredNote? = nil
  ) {
    frames[FrameID(track: 0, sequence: sequence), default: StoredFrame(size: size, place: place)]
      .append(detection, place: place, note: note)
  }
}
