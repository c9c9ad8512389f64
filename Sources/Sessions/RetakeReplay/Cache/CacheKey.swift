import Foundation
import RetakeCore

/// The secret that lets a cache distinguish files written here from files written elsewhere.
///
/// It is stored outside of every project. So a project, a pull request or an archive cannot contain
/// it. It has no influence on values, decisions or goldens.
package struct CacheKey: Sendable {
  /// The environment variable that holds the secret of a cache that several machines share.
  package static let variable = "RETAKE_CACHE_KEY"
  /// A shorter secret can be guessed.
  static let wordBytesMin = 16
  private static let fileBytes = 32
  private static let attemptsMax = 3

  private let secret: [UInt8]

  /// - Parameter secret: At least 16 bytes that cannot be guessed.
  package init(secret: [UInt8]) {
    self.secret = secret
  }

  /// The key in `RETAKE_CACHE_KEY`, or else the key of this user on this machine, which is created
  /// if it does not exist: `$XDG_STATE_HOME/retake/cache-key`, or `~/.local/state/retake/cache-key`
  /// without that variable.
  ///
  /// - Throws: `CacheError.weakKey`, `.noKey`.
  package static func ofUser(
    environment: [String: String] = ProcessContext.current.variables
  ) throws -> CacheKey {
    // Empty counts as unset: a CI job that may not read the secret, such as one for a fork, gets an
    // empty variable.
    if let word = environment[variable], !word.isEmpty {
      guard word.utf8.count >= wordBytesMin else { throw CacheError.weakKey }
      return CacheKey(secret: Array(word.utf8))
    }
    let path = file(environment)
    // Another process may create it at the same time. The first one wins.
    for _ in 0..<attemptsMax {
      if let key = try read(path) { return key }
      try make(path)
    }
    throw CacheError.noKey(path: path, cause: "it is gone as soon as it is made")
  }

  private static func file(_ environment: [String: String]) -> String {
    let named = environment["XDG_STATE_HOME"] ?? ""
    // The XDG specification says that relative paths are ignored.
    let state =
      named.hasPrefix("/")
      ? named : (environment["HOME"] ?? NSHomeDirectory()) + "/.local/state"
    return state + "/retake/cache-key"
  }

  /// - Returns: `nil` if the file does not exist.
  private static func read(_ path: String) throws -> CacheKey? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard descriptor >= 0 else {
      if errno == ENOENT { return nil }
      throw CacheError.noKey(path: path, cause: POSIXError.last.systemText)
    }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw CacheError.noKey(path: path, cause: "it is not a regular file")
    }
    // Any other user who can read the key can write packs that this user's runs would use.
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      throw CacheError.noKey(
        path: path, cause: "it must belong to you and be closed to others (chmod 600)")
    }
    var bytes = [UInt8](repeating: 0, count: fileBytes)
    guard Foundation.read(descriptor, &bytes, fileBytes) == fileBytes else {
      throw CacheError.noKey(path: path, cause: "it is cut short; remove it, and a new one is made")
    }
    return CacheKey(secret: bytes)
  }

  private static func make(_ path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
    do {
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch {
      throw CacheError.noKey(path: path, cause: error.systemText)
    }
    // The file is complete before it gets its name.
    let new = path + ".\(ProcessInfo.processInfo.processIdentifier)-\(UUID().uuidString).new"
    let descriptor = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else {
      throw CacheError.noKey(path: path, cause: POSIXError.last.systemText)
    }
    defer {
      close(descriptor)
      unlink(new)
    }
    // A secret must not be predictable. No value and no decision depends on it.
    var generator = SystemRandomNumberGenerator()
    let bytes = (0..<fileBytes).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
    // `link` and not `rename`: it fails if the name exists, where `rename` would replace a key with
    // which another process may have written packs already.
    guard write(descriptor, bytes, fileBytes) == fileBytes, fsync(descriptor) == 0,
      link(new, path) == 0 || errno == EEXIST
    else { throw CacheError.noKey(path: path, cause: POSIXError.last.systemText) }
  }

  /// Authenticates the packs of one kind in one folder of the cache.
  func seal(_ kind: CachePack.Kind, scope: String) -> CacheSeal {
    CacheSeal(secret: secret, about: "retake cache 2/\(scope)/\(kind.rawValue)", kind: kind)
  }
}
