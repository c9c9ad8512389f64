import Foundation
package import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia

/// Image files as frames: one file, or the files of a folder in the byte order of their names.
///
/// The images of a folder may differ in size; the first image describes the track.
package struct ImagesSource: FrameSource {
  package let options: ImagesOptions
  /// Where the images are read, which may differ from the path in the options.
  var places = InputPlaces.asNamed
  private let timeBase: TimeBase

  /// - Throws: `OptionError` without a path, or for a rate that is out of bounds.
  package init(options: ImagesOptions) throws {
    guard !options.path.isEmpty else {
      throw OptionError(key: "path", message: "must name a PNG or JPEG file, or a folder of them")
    }
    timeBase = try FrameRateText.timeBase(options.fps)
    self.options = options
  }

  /// - Throws: `StagesError` when the path does not exist, or may not be read; `MediaError` when
  ///   the folder or the first image cannot be read.
  package func open() throws -> any FrameReader {
    let files = try files()
    for file in files { try places.checkImage(file) }
    return try ImagesReader(files: files, timeBase: timeBase)
  }

  /// - Parameter list: Returns the names in a folder; tests replace it.
  package func files(
    list: (String) throws -> [String] = FileManager.default.contentsOfDirectory
  ) throws -> [String] {
    let place = try places.images(options.path)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: place, isDirectory: &isFolder) else {
      throw StagesError.notFound(path: options.path)
    }
    // A file that is named is read whatever its ending; endings select within a folder only.
    guard isFolder.boolValue else { return [place] }
    let names: [String]
    do {
      names = try list(place)
    } catch {
      throw MediaError.unreadable(file: options.path, cause: error.systemText)
    }
    // By bytes: the system lists names in any order, and the order of a locale differs between
    // machines.
    let pictures = names.filter(Self.isPicture)
      .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    guard !pictures.isEmpty else { throw StagesError.noImages(path: options.path) }
    return pictures.map { "\(place)/\($0)" }
  }

  private static func isPicture(_ name: String) -> Bool {
    let name = name.lowercased()
    // Names with a dot are hidden files, such as the `._` companions that macOS adds to images.
    return !name.hasPrefix(".") && [".png", ".jpg", ".jpeg"].contains { name.hasSuffix($0) }
  }
}

/// Reads each image when it is requested, and does not keep it in memory.
private struct ImagesReader: FrameReader {
  let tracks: [TrackDescription]
  private let files: [String]
  private let index: TrackIndex

  init(files: [String], timeBase: TimeBase) throws {
    self.files = files
    index = TrackIndex(pts: files.indices.map { Int64($0) }, timeBase: timeBase)
    // The first image is decoded here, so that a wrong file is an error before the run begins.
    tracks = [
      TrackDescription(
        of: try MediaImage.read(file: files[0]), timeBase: timeBase, frameCount: files.count)
    ]
  }

  func entries(of track: Int, sequences: Range<Int>) -> [FrameEntry] {
    index.entries(of: track, sequences: sequences)
  }

  func chain(of id: FrameID) -> Int { id.sequence }

  func frame(_ id: FrameID) throws -> Frame {
    let row = try index.row(id)
    var frame = try MediaImage.read(file: files[id.sequence])
    frame.id = id
    frame.timestamp = row.timestamp
    return frame
  }
}
