import Foundation
import RetakeCore

/// The content of a folder that a user may have meant as a video, and the command that reads it.
package struct MediaFolder: Hashable, Sendable {
  /// After "this is".
  package var kind: String
  package var remedy: String

  package static let imageEndings: Set<String> = [
    "bmp", "jpeg", "jpg", "pgm", "png", "ppm", "tif", "tiff", "webp",
  ]
  private static let videoEndings: Set<String> = [
    "avi", "m4v", "mkv", "mov", "mp4", "mpg", "mts", "mxf", "ts", "webm",
  ]
  /// More entries than this are counted as as many.
  private static let entriesMax = 1_000_000

  /// Nil if the folder has no known content.
  package init?(_ path: String) {
    guard let found = Self.found(in: path) else { return nil }
    self = found
  }

  private init(kind: String, remedy: String) { (self.kind, self.remedy) = (kind, remedy) }

  private static func found(in path: String) -> MediaFolder? {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
      .prefix(entriesMax).filter { !$0.hasPrefix(".") }.sorted()
    func isThere(_ name: String) -> Bool {
      FileManager.default.fileExists(atPath: path + "/" + name)
    }
    if isThere("session.sqlite") {
      return MediaFolder(
        kind: "a session already",
        remedy: "Use it as it is: retake replay \(path.shellWord) --pipeline example:motion-boxes")
    }
    if let bag = names.first(where: { isOldBag(path + "/" + $0) }),
      let head = head(path + "/" + bag),
      let foreign = ForeignFile(head: head, path: path + "/" + bag)
    {
      return MediaFolder(kind: "a folder with \(foreign.kind), \(bag)", remedy: foreign.remedy)
    }
    if let images = ["mav0/cam0/data", "cam0/data"].first(where: isThere) {
      return folder(of: path + "/" + images, in: "a recording in the form of EuRoC")
    }
    if isThere("rgb"), isThere("rgb.txt") {
      return folder(of: path + "/rgb", in: "a recording in the form of TUM")
    }
    if names.contains(where: { imageEndings.contains(ending($0)) }) {
      return folder(of: path, in: nil)
    }
    guard let video = names.first(where: { videoEndings.contains(ending($0)) }) else { return nil }
    let kind = video.suffix(video.count - stem(video).count)
    return MediaFolder(
      kind: "a folder with video files",
      remedy: "Import them: retake import \(path.shellWord)/*\(kind)")
  }

  /// - Parameters:
  ///   - folder: The folder with the images themselves.
  ///   - recording: The form of the folders around it.
  private static func folder(of folder: String, in recording: String?) -> MediaFolder? {
    let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
      .prefix(entriesMax).filter { imageEndings.contains(ending($0)) }.sorted()
    guard let first = names.first else { return nil }
    let images = "a folder of \(counted(names.count, "image"))"
    let pattern = folder + "/*" + first.suffix(first.count - stem(first).count)
    // The shell sorts the names, so a missing number does not end the sequence.
    return MediaFolder(
      kind: recording.map { "\($0): \(images) in \(folder)" } ?? images,
      remedy: "Make a video of them: ffmpeg -framerate 25 -pattern_type glob -i "
        + "\(pattern.shellWord) -c:v ffv1 OUT.mkv; a pipeline reads PNG and JPEG as they are, "
        + "with its source images")
  }

  /// Whether the ending of a name is of an image.
  package static func isImage(_ name: String) -> Bool { imageEndings.contains(ending(name)) }

  private static func ending(_ name: String) -> String {
    name.split(separator: ".").count > 1 ? name.split(separator: ".").last?.lowercased() ?? "" : ""
  }

  /// A name without its ending.
  package static func stem(_ name: String) -> String {
    name.lastIndex(of: ".").map { String(name[..<$0]) } ?? name
  }

  private static func isOldBag(_ path: String) -> Bool {
    path.hasSuffix(".bag") && head(path).map { $0.starts(with: Array("#ROSBAG".utf8)) } == true
  }

  private static func head(_ path: String) -> [UInt8]? {
    (try? RegularFile.head(path, links: .followed, count: ForeignFile.headBytes)).map { Array($0) }
  }
}
