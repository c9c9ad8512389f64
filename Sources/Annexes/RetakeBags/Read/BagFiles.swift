import Foundation
package import RetakeCore
import RetakeMedia

/// The files of a bag, before any of them is opened.
package struct BagFiles: Hashable, Sendable {
  enum Storage: Hashable, Sendable { case sqlite, mcap, ros1, images(ImageFolder) }

  struct Entry: Hashable, Sendable {
    var path: String
    var storage: Storage
    /// Whether the file is compressed with zstd, and not its messages.
    var isCompressed: Bool
  }

  /// In the order in which they were recorded.
  var entries: [Entry]
  /// Files and records that are known to be missing.
  var losses: [String] = []
  /// Remarks that are not about losses.
  var notes: [String] = []
  /// For messages to the user: the file's or the folder's name.
  var name: String

  /// A recorder splits a bag into as many files only after weeks.
  private static let fileCountMax = 10_000
  private static let metadataBytesMax: Int64 = 16 << 20
  private static let metadata = "metadata.yaml"

  /// Whether a path is a bag, by its name and first bytes. A video file is not.
  static func isBag(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else { return false }
    return isFolder.boolValue || entry(path) != nil
  }

  /// - Parameter rate: The time from one number to the next, of images whose names are numbers.
  /// - Throws: `BagError.notBag`, or `.imageTimes` for a rate of images that have times.
  package init(_ path: String, rate: TimeBase? = nil) throws {
    let path = URL(fileURLWithPath: path).standardizedFileURL.path
    name = URL(fileURLWithPath: path).lastPathComponent
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) else {
      throw BagError.notBag(path: path, cause: "there is no such file")
    }
    guard isFolder.boolValue else {
      guard let entry = Self.entry(path) else {
        throw BagError.notBag(
          path: path,
          cause: "it begins like neither an SQLite nor an MCAP file, nor like a bag of ROS 1")
      }
      guard rate == nil else { throw BagError.rateOfTimes(path: path) }
      entries = [entry]
      losses = Self.logLoss(path)
      return
    }
    entries = []
    try readFolder(path, rate: rate)
  }

  private mutating func readFolder(_ path: String, rate: TimeBase?) throws {
    let found = ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [])
      .filter { !$0.hasPrefix(".") && $0 != "session.sqlite" }
      .filter { Self.entry(path + "/" + $0) != nil }
      .sorted(by: Self.isBefore)
    if found.isEmpty, !FileManager.default.fileExists(atPath: path + "/session.sqlite"),
      let images = try ImageFolder(path, rate: rate)
    {
      entries = [Entry(path: path, storage: .images(images), isCompressed: false)]
      (losses, notes) = (images.losses, images.notes)
      return
    }
    guard !found.isEmpty, found.count <= Self.fileCountMax else {
      let cause =
        found.isEmpty
        ? "the folder has no .db3, .mcap or .bag file" : "the folder has \(found.count) such files"
      let folder = found.isEmpty ? MediaFolder(path) : nil
      throw BagError.notBag(
        path: path, cause: folder.map { "it is \($0.kind)" } ?? cause, remedy: folder?.remedy)
    }
    guard rate == nil else { throw BagError.rateOfTimes(path: path) }
    let listed = Self.listed(path)
    let missing = listed.filter { !found.contains($0) && !found.contains($0 + ".zstd") }
    losses = missing.map { "\($0), which \(Self.metadata) lists, is missing" }
    // The list has the order of the files; a file that it lacks was recorded last.
    let order = Dictionary(zip(listed, listed.indices)) { first, _ in first }
    let places = found.enumerated().map {
      (order[$0.element] ?? listed.count + $0.offset, $0.element)
    }
    for (_, name) in places.sorted(by: { $0.0 < $1.0 }) {
      guard let entry = Self.entry(path + "/" + name) else { continue }
      entries.append(entry)
      losses += Self.logLoss(entry.path)
    }
  }

  /// By the number before the ending: `run_2.db3` is before `run_10.db3`.
  private static func isBefore(_ first: String, _ second: String) -> Bool {
    let (a, b) = (key(first), key(second))
    return (a.number, a.name) < (b.number, b.name)
  }

  private static func key(_ name: String) -> (number: Int, name: String) {
    let stem = name.prefix { $0 != "." }
    let digits = stem.reversed().prefix { $0.isASCII && $0.isNumber }
    return (Int(String(digits.reversed())) ?? -1, name)
  }

  private static func entry(_ path: String) -> Entry? {
    guard let head = try? RegularFile.head(path, links: .followed, count: 16) else { return nil }
    if head.starts(with: Array("SQLite format 3\0".utf8)) {
      return Entry(path: path, storage: .sqlite, isCompressed: false)
    }
    if head.starts(with: MCAPRecord.magic) {
      return Entry(path: path, storage: .mcap, isCompressed: false)
    }
    if head.starts(with: ROS1Record.magic) {
      return Entry(path: path, storage: .ros1, isCompressed: false)
    }
    guard head.starts(with: ZstdStream.magic) else { return nil }
    if path.hasSuffix(".db3.zstd") {
      return Entry(path: path, storage: .sqlite, isCompressed: true)
    }
    if path.hasSuffix(".mcap.zstd") { return Entry(path: path, storage: .mcap, isCompressed: true) }
    return nil
  }

  /// SQLite's own recovery would write into the bag, so rows that are only in a log are not read.
  private static func logLoss(_ path: String) -> [String] {
    ["-wal", "-journal"].compactMap { suffix in
      guard let bytes = try? RegularFile.facts(of: path + suffix, links: .followed).bytes, bytes > 0
      else { return nil }
      let name = URL(fileURLWithPath: path).lastPathComponent
      return "\(name)\(suffix) has \(bytes) bytes that its recorder left behind, and is not read: "
        + "open the bag once with sqlite3 to merge them"
    }
  }

  /// The names under `relative_file_paths` of metadata.yaml; empty without that file. Older
  /// recorders write them with the bag's folder.
  private static func listed(_ folder: String) -> [String] {
    let path = folder + "/" + metadata
    guard
      let data = try? RegularFile.contents(path, links: .followed, bytesMax: metadataBytesMax)
    else { return [] }
    var (names, isInList) = ([String](), false)
    for line in String(decoding: data, as: UTF8.self).split(separator: "\n") {
      let text = line.trimmingCharacters(in: .whitespaces)
      if text.hasPrefix("relative_file_paths:") {
        isInList = true
      } else if isInList, text.hasPrefix("- ") {
        let name = text.dropFirst(2).trimmingCharacters(in: CharacterSet(charactersIn: " \"'"))
        names.append(name.split(separator: "/").last.map(String.init) ?? name)
      } else {
        isInList = false
      }
    }
    return names
  }
}
