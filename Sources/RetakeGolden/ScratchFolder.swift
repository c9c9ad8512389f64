import Foundation

/// A hidden folder beside the files that it will become. Those of processes that were killed are
/// removed by the next one.
final class ScratchFolder {
  private static let prefix = ".writing-"
  private static let suffix = ".new"
  /// Writers of one process in one folder.
  private static let countMax = 1_000

  let url: URL

  init(in folder: URL) throws(GoldenError) {
    try io(folder, "make the folder") {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }
    Self.removeAbandoned(in: folder)
    let process = ProcessInfo.processInfo.processIdentifier
    for number in 0..<Self.countMax {
      let url = folder.appending(path: "\(Self.prefix)\(process)-\(number)\(Self.suffix)")
      if mkdir(url.path, 0o777) == 0 {
        self.url = url
        return
      }
      guard errno == EEXIST else { break }
    }
    throw .io(
      path: folder.path, action: "make a folder in it", cause: String(cString: strerror(errno)))
  }

  static func removeAbandoned(in folder: URL) {
    let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    for entry in entries where entry.hasPrefix(prefix) && entry.hasSuffix(suffix) {
      let owner = entry.dropFirst(prefix.count).prefix { $0 != "-" }
      guard let process = Int32(owner), kill(process, 0) != 0, errno == ESRCH else { continue }
      try? FileManager.default.removeItem(at: folder.appending(path: entry))
    }
  }

  func file(_ name: String) -> URL { url.appending(path: name) }

  /// Moves all files to the target's names: first its old golden.yml goes, last the new one comes,
  /// so that there is a whole golden or none.
  func move(into target: GoldenFolder) throws(GoldenError) {
    let lock = FolderLock(target.url, .writing)
    defer { withExtendedLifetime(lock) {} }
    let entries = try io(url, "list the files") {
      try FileManager.default.contentsOfDirectory(atPath: url.path)
    }
    let names = entries.sorted().filter { $0 != GoldenFolder.manifestName }
    let old = target.fileNames() + (target.form == .accepted ? ["run.json"] : [])
    for name in [GoldenFolder.manifestName] + old {
      try? FileManager.default.removeItem(at: target.file(name))
    }
    for name in names + [GoldenFolder.manifestName] {
      try replace(target.file(name), with: file(name))
    }
    synchronize(folder: target.url)
    remove()
  }

  func remove() { try? FileManager.default.removeItem(at: url) }
}

extension GoldenFolder {
  /// Removes what a writer that was killed left in a folder; one that lives keeps its own.
  public static func removeAbandoned(in folder: URL) { ScratchFolder.removeAbandoned(in: folder) }
}
