import Foundation
import RetakeCore

/// What a cache holds of one track.
public struct CacheScope: Hashable, Sendable, Codable {
  /// Its name in the cache: the digest of the track's packets and frames.
  public var folder: String
  /// The session that filled it first; `nil` where nothing says which that was.
  public var session: String?
  public var track: Int?
  /// Of the track's media; 0 where nobody knows.
  public var seconds = 0.0
  public var valueBytes = 0
  public var pixelBytes = 0
  public var records = 0
  /// Files whose table is not what it was: nothing in them is found.
  public var damaged: [String] = []
  /// What writers have not ended, or left behind.
  public var leftovers: [CacheLeftover] = []

  public init(folder: String) {
    self.folder = folder
  }
}

/// A file in a cache that never got its name.
public struct CacheLeftover: Hashable, Sendable, Codable {
  public var name: String
  public var bytes: Int
  /// Somebody writes it now; nobody does where this is false, and `prune` takes it away.
  public var isBeingWritten: Bool
}

/// What came of holding every record against its checksum.
public struct CacheCheck: Hashable, Sendable, Codable {
  public var records = 0
  /// Files in which a record differs, which are gone now unless they are among `left`.
  public var damaged: [String] = []
  /// Damaged files that could not be taken away.
  public var left: [String] = []
}

/// What `about.json` says of a track's folder.
struct CacheAbout: Codable {
  static let name = "about.json"
  static let bytesMax: Int64 = 1 << 20

  var session: String
  var track: Int
  var seconds: Double
}

extension CacheFolder {
  /// A pack by its name alone.
  struct Pack {
    var url: URL
    var kind: CachePack.Kind
    var bytes: Int
    var used: Date
  }

  /// What there is, by session, then track; what no session is named for comes last.
  public func scopes() -> [CacheScope] {
    scopeFolders().map(scope(in:)).sorted { first, second in
      guard let a = first.session, let b = second.session else {
        return first.session != nil || (second.session == nil && first.folder < second.folder)
      }
      return (a, first.track ?? 0, first.folder) < (b, second.track ?? 0, second.folder)
    }
  }

  private func scope(in folder: URL) -> CacheScope {
    var scope = CacheScope(folder: folder.lastPathComponent)
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
      if let read = CachePack(pack.url, kind: pack.kind) {
        scope.records += read.count
      } else if CachePack.isDamaged(pack.url) {
        scope.damaged.append(pack.url.lastPathComponent)
      }
    }
    scope.leftovers = leftovers(in: folder).map { file in
      CacheLeftover(
        name: file.name, bytes: file.bytes ?? 0,
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

  /// The packs that can be read, and the files that are none any more.
  func openPacks(in folder: URL) -> (whole: [CachePack], damaged: [URL]) {
    var (whole, damaged) = ([CachePack](), [URL]())
    for pack in packs(in: folder) {
      if let read = CachePack(pack.url, kind: pack.kind) {
        whole.append(read)
      } else if CachePack.isDamaged(pack.url) {
        damaged.append(pack.url)
      }
    }
    return (whole, damaged)
  }

  func leftovers(in folder: URL) -> [UnfinishedFile] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.sorted().filter(UnfinishedFile.isName).map { UnfinishedFile(folder, name: $0) }
  }
}

/// A file that did not get its name. One that nobody holds a lock on has no writer any more.
struct UnfinishedFile {
  static let prefix = ".writing-"
  /// What the system's library makes on the way to a whole `about.json`, in a moment and unlocked.
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

  /// Does something with the path of a file that nobody writes, while nobody else may lock it.
  ///
  /// - Returns: `nil` where somebody writes it, or nobody can tell.
  func withUnlocked<Result>(_ kind: Int32, _ body: (String) -> Result) -> Result? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard flock(descriptor, kind | LOCK_NB) == 0 else { return nil }
    return body(path)
  }
}
