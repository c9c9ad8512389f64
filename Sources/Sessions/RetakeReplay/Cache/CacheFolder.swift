package import Foundation
import RetakeCore

/// A folder in which runs store values for later runs. Several runs may use it at once.
///
/// The contents can be deleted at any time, because they only make runs faster.
package struct CacheFolder: Sendable {
  /// The default limit: 4 GiB.
  package static let defaultLimit = 4 << 30

  package let url: URL
  /// Beyond this limit, the least recently used packs are removed.
  package let limitBytes: Int
  let key: CacheKey

  private static let ignored = ".gitignore"
  private static let marker = "retake-cache.json"
  private static let markerText = "{\"v\":1}\n"

  /// Opens the folder, and creates it if it does not exist.
  ///
  /// - Parameter key: Files that were written with another key are not used.
  /// - Throws: `CacheError.notCache` for a folder that contains something else, `.notFolder`,
  ///   `.deadLink`, `.newer`, `.unreadable`, `.unwritable`.
  package init(
    path: String, key: CacheKey, limitBytes: Int = defaultLimit
  ) throws {
    url = URL(fileURLWithPath: path, isDirectory: true)
    self.key = key
    self.limitBytes = limitBytes
    if try Self.state(of: path) == .marked { return }
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      // The marker is last and atomic: a folder with a marker is used without any other check.
      try Data("*\n".utf8).write(to: url.appending(path: Self.ignored))
      try Data(Self.markerText.utf8).write(to: url.appending(path: Self.marker), options: .atomic)
    } catch {
      throw CacheError.unwritable(path: path, cause: error.systemText)
    }
  }

  /// - Parameter project: The folder of a project, which may come from someone else.
  /// - Throws: `CacheError.linkOut` for a path in the project that leads out of it, `.deadLink` for
  ///   a path that leads nowhere.
  package static func check(_ path: String, in project: String) throws {
    guard let link = OwnFolder.linkOut(of: project, to: path) else { return }
    // A link that leads nowhere has a separate error, because it needs another remedy.
    _ = try isFolder(path)
    throw CacheError.linkOut(path: link)
  }

  /// Opens a folder that is a cache already. The folder stays unchanged.
  ///
  /// - Throws: `CacheError.missing`, `.empty`, and the errors of `init(path:)`.
  package init(
    existing path: String, key: CacheKey, limitBytes: Int = defaultLimit
  ) throws {
    switch try Self.state(of: path) {
    case .missing: throw CacheError.missing(path: path)
    case .empty: throw CacheError.empty(path: path)
    case .marked, .unmarked: break
    }
    url = URL(fileURLWithPath: path, isDirectory: true)
    self.key = key
    self.limitBytes = limitBytes
  }

  private enum State {
    case missing
    case empty
    case marked
    /// It has folders of tracks but no marker: the cache is being created, or its marker was
    /// removed.
    case unmarked
  }

  private static let markerBytesMax: Int64 = 4_096

  /// - Throws: `CacheError` for a path that is not a cache and cannot become one.
  private static func state(of path: String) throws -> State {
    guard try isFolder(path) else { return .missing }
    let file = URL(fileURLWithPath: path).appending(path: marker)
    let text = (try? RegularFile.contents(file.path, bytesMax: markerBytesMax))
      .map { String(decoding: $0, as: UTF8.self) }
    if text == markerText { return .marked }
    // A marker that was truncated while it was written has no meaning.
    if let text, text.hasSuffix("}\n") { throw CacheError.newer(path: path) }
    let entries: [String]
    do {
      entries = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw CacheError.unreadable(path: path, cause: error.systemText)
    }
    // A cache never writes into a folder with other contents (docs/cache.md).
    guard entries.allSatisfy(isOwn) else { throw CacheError.notCache(path: path) }
    return entries.contains { Digest128(hex: $0) != nil } ? .unmarked : .empty
  }

  /// - Returns: `false` if the path does not exist.
  private static func isFolder(_ path: String) throws -> Bool {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else { throw CacheError.notFolder(path: path) }
      return true
    }
    // Before any other call, which may set it again.
    let cause = errno
    guard cause == ENOENT else {
      throw CacheError.unreadable(path: path, cause: String(cString: strerror(cause)))
    }
    var url = URL(fileURLWithPath: path).standardizedFileURL
    // Ends at the root, which always exists.
    while stat(url.path, &status) != 0, url.path != "/" {
      if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) {
        throw CacheError.deadLink(path: url.path, target: target)
      }
      url.deleteLastPathComponent()
    }
    return false
  }

  /// Whether a cache may contain an entry with that name. A folder whose marker is not written yet,
  /// or was removed, is still a cache.
  private static func isOwn(_ name: String) -> Bool {
    name == ignored || name.hasPrefix(marker) || name.hasPrefix(".\(marker)")
      || name.hasPrefix(".dat.") || Digest128(hex: name) != nil
  }

  func scope(_ digest: Digest128) -> URL {
    url.appending(path: digest.description, directoryHint: .isDirectory)
  }
}
