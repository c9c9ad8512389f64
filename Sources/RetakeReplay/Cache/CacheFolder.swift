import Foundation
import RetakeCore

/// A folder in which runs keep values for later runs. Several may use it at once.
///
/// What it holds can be taken away at any time: it only makes runs faster.
public struct CacheFolder: Sendable {
  /// The most bytes that are kept, if nothing else is said: 4 GiB.
  public static let limitStandard = 4 << 30

  public let url: URL
  /// What was used longest ago goes when there is more.
  public let limitBytes: Int
  let key: CacheKey

  private static let ignored = ".gitignore"
  private static let marker = "retake-cache.json"
  private static let markerText = "{\"v\":1}\n"

  /// Opens the folder, and makes it where there is none.
  ///
  /// - Parameter key: What was made with another one is not used.
  /// - Throws: `CacheError.notCache` for a folder that holds something else, `.notFolder`, `.deadLink`,
  ///   `.newer`, `.unreadable`, `.unwritable`.
  public init(
    path: String, key: CacheKey, limitBytes: Int = limitStandard
  ) throws(CacheError) {
    url = URL(fileURLWithPath: path, isDirectory: true)
    self.key = key
    self.limitBytes = limitBytes
    if try Self.state(of: path) == .marked { return }
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try Data("*\n".utf8).write(to: url.appending(path: Self.ignored))
      try Data(Self.markerText.utf8).write(to: url.appending(path: Self.marker), options: .atomic)
    } catch {
      throw .unwritable(path: path, cause: error.systemText)
    }
  }

  /// - Parameter project: The folder of a project, which may come from someone else.
  /// - Throws: `CacheError.linkOut` for a path in the project that leads out of it, `.deadLink` for
  ///   one that leads nowhere.
  public static func check(_ path: String, in project: String) throws(CacheError) {
    guard let link = OwnFolder.linkOut(of: project, to: path) else { return }
    _ = try isFolder(path)
    throw .linkOut(path: link)
  }

  /// Opens a folder that is a cache already; nothing is made or changed.
  ///
  /// - Throws: `CacheError.missing`, `.empty`, and what `init(path:)` throws.
  public init(
    existing path: String, key: CacheKey, limitBytes: Int = limitStandard
  ) throws(CacheError) {
    switch try Self.state(of: path) {
    case .missing: throw .missing(path: path)
    case .empty: throw .empty(path: path)
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
    /// It has tracks, and nothing says that it is a cache: one that is being made, or whose marker
    /// somebody removed.
    case unmarked
  }

  private static let markerBytesMax: Int64 = 4_096

  /// - Throws: `CacheError` for what is no cache and cannot become one.
  private static func state(of path: String) throws(CacheError) -> State {
    guard try isFolder(path) else { return .missing }
    let file = URL(fileURLWithPath: path).appending(path: marker)
    let text = (try? RegularFile.contents(file.path, bytesMax: markerBytesMax))
      .map { String(decoding: $0, as: UTF8.self) }
    if text == markerText { return .marked }
    // One that was cut off while it was written says nothing.
    if let text, text.hasSuffix("}\n") { throw .newer(path: path) }
    let entries: [String]
    do {
      entries = try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw .unreadable(path: path, cause: error.systemText)
    }
    guard entries.allSatisfy(isOwn) else { throw .notCache(path: path) }
    return entries.contains { Digest128(hex: $0) != nil } ? .unmarked : .empty
  }

  /// - Returns: `false` where nothing is.
  private static func isFolder(_ path: String) throws(CacheError) -> Bool {
    var status = stat()
    if stat(path, &status) == 0 {
      guard status.st_mode & S_IFMT == S_IFDIR else { throw .notFolder(path: path) }
      return true
    }
    let cause = errno
    guard cause == ENOENT else {
      throw .unreadable(path: path, cause: String(cString: strerror(cause)))
    }
    var url = URL(fileURLWithPath: path).standardizedFileURL
    // Ends at the root, which is there.
    while stat(url.path, &status) != 0, url.path != "/" {
      if let target = try? FileManager.default.destinationOfSymbolicLink(atPath: url.path) {
        throw .deadLink(path: url.path, target: target)
      }
      url.deleteLastPathComponent()
    }
    return false
  }

  /// Whether a cache has entries of that name: one that is being made, or whose marker somebody removed, is
  /// one all the same.
  private static func isOwn(_ name: String) -> Bool {
    name == ignored || name.hasPrefix(marker) || name.hasPrefix(".\(marker)")
      || name.hasPrefix(".dat.") || Digest128(hex: name) != nil
  }

  func scope(_ digest: Digest128) -> URL {
    url.appending(path: digest.description, directoryHint: .isDirectory)
  }
}
