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

  private static let ignored = ".gitignore"
  private static let marker = "retake-cache.json"
  private static let markerText = "{\"v\":1}\n"

  /// Opens the folder, and makes it where there is none.
  ///
  /// - Throws: `CacheError.notCache` for a folder that holds something else, `.unwritable`.
  public init(path: String, limitBytes: Int = limitStandard) throws(CacheError) {
    url = URL(fileURLWithPath: path, isDirectory: true)
    self.limitBytes = limitBytes
    let marker = url.appending(path: Self.marker)
    let text = try? String(contentsOf: marker, encoding: .utf8)
    if text == Self.markerText { return }
    // One that was cut off while it was written says nothing.
    if let text, text.hasSuffix("}\n") { throw .newer(path: path) }
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder) {
      let entries = try? FileManager.default.contentsOfDirectory(atPath: path)
      guard isFolder.boolValue, let entries, entries.allSatisfy(Self.isOwn) else {
        throw .notCache(path: path)
      }
    }
    do {
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
      try Data("*\n".utf8).write(to: url.appending(path: Self.ignored))
      try Data(Self.markerText.utf8).write(to: marker, options: .atomic)
    } catch {
      throw .unwritable(path: path, cause: error.localizedDescription)
    }
  }

  /// Opens a folder that is a cache already.
  ///
  /// - Throws: `CacheError.missing`, and what `init(path:)` throws.
  public init(existing path: String, limitBytes: Int = limitStandard) throws(CacheError) {
    guard FileManager.default.fileExists(atPath: path) else { throw .missing(path: path) }
    try self.init(path: path, limitBytes: limitBytes)
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

/// What is wrong with a cache.
public enum CacheError: CodedError, Hashable {
  case missing(path: String)
  /// The folder holds something else.
  case notCache(path: String)
  case newer(path: String)
  case unwritable(path: String, cause: String)

  public var code: String {
    switch self {
    case .missing: "replay.cache.missing"
    case .notCache: "replay.cache.notCache"
    case .newer: "replay.cache.newerVersion"
    case .unwritable: "replay.cache.unwritable"
    }
  }

  public var message: String {
    switch self {
    case .missing: "there is no cache here"
    case .notCache: "this folder holds something else than a cache"
    case .newer: "the cache was written by another version of Retake"
    case .unwritable(_, let cause): "the cache cannot be written: \(cause)"
    }
  }

  public var place: String? {
    switch self {
    case .missing(let path), .notCache(let path), .newer(let path), .unwritable(let path, _): path
    }
  }

  public var advice: String? {
    switch self {
    case .missing: "Fill one: retake cache warm SESSION --pipeline P --cache DIR"
    case .notCache: "Name an empty folder, or one that does not exist yet: --cache DIR"
    case .newer: "Name another folder, or remove this one: nothing in it is lost"
    case .unwritable: "Name a folder that can be written: --cache DIR"
    }
  }
}
