import RetakeCore

/// The detections of one frame in a file.
struct StoredFrame: Sendable {
  var items: [Detection] = []
  /// The line or the element of each item, to name it in an error; empty for a golden.
  var places: [Int] = []
  /// How the frame ended in the stored run before its detections; `nil` if the run has them.
  var ended: String?
  /// Width and height of the frame in pixels; `nil` if the file does not say.
  var size: [Int]?
  /// The line or the element at which the frame was seen first.
  var place = 0
}

/// The content of a file of stored detections.
struct StoredContent: Sendable {
  /// The parts of a file by which an error names a box.
  enum Unit: Sendable {
    case line
    /// The elements of the array at this JSON pointer.
    case element(String)
    case frame

    func words(_ place: Int) -> String {
      switch self {
      case .line: "line \(place)"
      case .element(let pointer): "\(pointer)/\(place)"
      case .frame: "a box"
      }
    }
  }

  /// By frame; of track 0 if the file names no tracks.
  var frames: [FrameID: StoredFrame] = [:]
  var classNames: [String] = []
  var unit = Unit.line
  /// Whether the file is of a run of Retake: it names tracks, and has each captured frame.
  var isOfRun = false
  /// The file's number of frame 0; `nil` if the file does not number its frames.
  var firstFrame: Int?
  /// The number of frames, if the file lists them all.
  var frameCount: Int?
}

extension Detection {
  /// The largest magnitude of a coordinate, in pixels.
  private static let pixelsMax = 1_000_000.0

  /// Why a box cannot be used; `nil` if it can.
  var problem: String? {
    let numbers = [box.x, box.y, box.width, box.height]
    guard numbers.allSatisfy(\.isFinite), score.isFinite else {
      return "a number of the box is not finite"
    }
    guard box.width >= 0, box.height >= 0 else { return "the box has a negative size" }
    guard numbers.allSatisfy({ $0.magnitude <= Self.pixelsMax }) else {
      return "a number of the box is above \(Int(Self.pixelsMax)) pixels"
    }
    guard (0...Self.classMax).contains(classIndex) else {
      return "the class \(classIndex) is not 0 to \(Self.classMax)"
    }
    return nil
  }

  static let classMax = 65_535

  /// Whether no pixel of a frame is in the box. A box without an area may be at the edge.
  func isOutside(width: Int, height: Int) -> Bool {
    let (right, bottom) = (box.x + box.width, box.y + box.height)
    return box.x > Double(width) || box.y > Double(height) || right < 0 || bottom < 0
  }
}

/// The objects and boxes that a file has named, to find lines that are there twice.
struct SeenBoxes {
  private struct Name: Hashable {
    var sequence: Int
    var identity: Int?
    /// `nil` if the identity alone names the object.
    var detection: Detection?
  }

  private var names: Set<Name> = []

  /// The repetition, in words; `nil` for a new box.
  mutating func note(_ detection: Detection, sequence: Int) -> String? {
    let identity = detection.identity
    let name = Name(
      sequence: sequence, identity: identity, detection: identity == nil ? detection : nil)
    guard !names.insert(name).inserted else { return nil }
    return identity.map { "the identity \($0) is there twice in its frame" }
      ?? "the same box is there twice in its frame"
  }
}
