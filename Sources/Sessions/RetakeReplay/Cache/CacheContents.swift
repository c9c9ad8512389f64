import Foundation
import RetakeCore

/// The contents of a cache for one track.
package struct CacheScope: Hashable, Sendable, Codable {
  /// The name of its folder in the cache: the digest of the track's packets and frames.
  package var folder: String
  /// The session that filled it first; `nil` if that is not known.
  package var session: String?
  package var track: Int?
  /// Duration of the track's media; 0 if it is not known.
  package var seconds = 0.0
  package var valueBytes = 0
  package var pixelBytes = 0
  package var records = 0
  /// Files whose table was changed. No record in them can be found.
  package var damaged: [String] = []
  /// Files that were written with another key, for another track, or by another version. They are
  /// not used.
  package var foreign: [String] = []
  /// Files that writers have not finished, or that a killed writer left.
  package var leftovers: [CacheLeftover] = []

  package init(folder: String) {
    self.folder = folder
  }
}

/// A file in a cache that never got its final name.
package struct CacheLeftover: Hashable, Sendable, Codable {
  package var name: String
  package var bytes: Int
  /// Whether a process is writing it now. If not, `prune` removes it.
  package var isBeingWritten: Bool
}

/// The result of checking every record against its checksum.
package struct CacheCheck: Hashable, Sendable, Codable {
  package var records = 0
  /// Files with a damaged record. They have been removed, except the files in `left`.
  package var damaged: [String] = []
  /// Files that were written elsewhere. They cannot be checked, and no run uses them.
  package var foreign: [String] = []
  /// Damaged files that could not be removed.
  package var left: [String] = []
  /// Files that could not be read, and so not be checked. They were left.
  package var unreadable: [String] = []
}

/// The content of `about.json` in a track's folder.
struct CacheAbout: Codable {
  static let name = "about.json"
  static let bytesMax: Int64 = 1 << 20

  var session: String
  var track: Int
  var seconds: Double
}

extension CacheFolder {
  /// A pack as described by its file name and attributes.
  struct Pack {
    var url: URL
    var kind: CachePack.Kind
    var bytes: Int
    var used: Date
  }

  /// The contents, by session, then track; folders without a known session come last.
  package func scopes() -> [CacheScope] {
    scopeFolders().map(scope(in:)).sorted { first, second in
      guard let a = first.session, let b = second.session else {
        return first.session != nil || (second.session == nil && first.folder < second.folder)
      }
      return (a, first.track ?? 0, first.folder) < (b, second.track ?? 0, second.folder)
    }
  }

  private func scope(in folder: URL) -> CacheScope {
    var scope = CacheScope(folder: folder.lastPathComponent)
    // Information only (docs/formats/cache.md): without it the folder is listed without a session.
    if let data = try? RegularFile.contents(
      folder.appending(path: CacheAbout.name).path, bytesMax: CacheAbout.bytesMax),
      let about = try? JSONDecoder().decode(CacheAbout.self, from: data)
    {
      (scope.session, scope.track, scope.seconds) = (about.session, about.track, about.seconds)
    }
    for pack in packs(in: folder) {
      if pack.kind == .values {
        scope.valueBytes += pack.bytes
      } else {
        scope.pixelBytes += pack.bytes
      }
      switch open(pack) {
      case .whole(let read): scope.records += read.count
      case .foreign: scope.foreign.append(pack.url.lastPathComponent)
      case .damaged: scope.damaged.append(pack.url.lastPathComponent)
      case .unreadable, .nothing: break
      }
    }
    scope.leftovers = leftovers(in: folder).map { file in
      CacheLeftover(
        name: file.name, bytes: file.bytes ?? 0,
        // A shared lock: two processes that look at once must not mistake each other for a writer.
        isBeingWritten: file.withUnlocked(LOCK_SH) { _ in true } == nil)
    }
    return scope
  }

  func scopeFolders() -> [URL] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
    return names.sorted().filter { Digest128(hex: $0) != nil }.map {
      url.appending(path: $0, directoryHint: .isDirectory)
    }
  }

  func packs(in folder: URL) -> [Pack] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().compactMap { name in
      // A file that is being written has no `.pack` at its end, so it is never opened here.
      guard name.hasSuffix(".pack"),
        let kind = CachePack.Kind.allCases.first(where: { name.hasPrefix($0.rawValue + "-") })
      else { return nil }
      let url = folder.appending(path: name)
      let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
      return Pack(
        url: url, kind: kind, bytes: (attributes?[.size] as? NSNumber)?.intValue ?? 0,
        used: attributes?[.modificationDate] as? Date ?? .distantPast)
    }
  }

  func open(_ pack: Pack) -> CachePack.Opened {
    let scope = pack.url.deletingLastPathComponent().lastPathComponent
    return CachePack.open(pack.url, kind: pack.kind, seal: key.seal(pack.kind, scope: scope))
  }

  /// The packs that can be used, the damaged files, and the number of packs that were written
  /// elsewhere.
  func openPacks(in folder: URL) -> (whole: [CachePack], damaged: [URL], foreign: Int) {
    var (whole, damaged, foreign) = ([CachePack](), [URL](), 0)
    for pack in packs(in: folder) {
      switch open(pack) {
      case .whole(let read): whole.append(read)
      case .foreign: foreign += 1
      case .damaged: damaged.append(pack.url)
      case .unreadable, .nothing: break
      }
    }
    return (whole, damaged, foreign)
  }

  func leftovers(in folder: URL) -> [UnfinishedFile] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().filter(UnfinishedFile.isName).map { UnfinishedFile(folder, name: $0) }
  }
}

/// A file that has not got its final name. If no process has a lock on it, its writer has ended.
struct UnfinishedFile {
  static let prefix = ".writing-"
  /// Temporary files of Foundation while it writes `about.json`. They exist briefly and have no
  /// lock.
  private static let libraryPrefix = ".dat."

  let name: String
  let path: String

  init(_ folder: URL, name: String) {
    self.name = name
    path = folder.appending(path: name).path
  }

  static func isName(_ name: String) -> Bool {
    name.hasPrefix(prefix) || name.hasPrefix(libraryPrefix)
  }

  var bytes: Int? {
    var status = stat()
    return lstat(path, &status) == 0 ? Int(status.st_size) : nil
  }

  /// Calls `body` with the path of a file that no process writes, while no other process may lock
  /// it.
  ///
  /// - Returns: `nil` if a process writes the file, or if that cannot be found out.
  func withUnlocked<Result>(_ kind: Int32, _ body: (String) -> Result) -> Result? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    // Not waiting: a writer may hold its lock for the entire run.
    guard flock(descriptor, kind | LOCK_NB) == 0 else { return nil }
    return body(path)
  }
}
