package import RetakeCore

/// Errors of a cache.
package enum CacheError: RetakeError, Hashable {
  case missing(path: String)
  /// The folder is empty.
  case empty(path: String)
  /// The folder contains something else.
  case notCache(path: String)
  case notFolder(path: String)
  case deadLink(path: String, target: String)
  /// The path is inside a project, but a link leads out of it.
  case linkOut(path: String)
  case newer(path: String)
  case unreadable(path: String, cause: String)
  case unwritable(path: String, cause: String)
  /// The secret that identifies files written here cannot be read or created.
  case noKey(path: String, cause: String)
  /// The files of the code that computes here cannot be read, so that values of other code could not
  /// be told from its own.
  case noProgram
  /// `RETAKE_CACHE_KEY` is too easy to guess.
  case weakKey
  /// The cache is part of the repository.
  case tracked(path: String, file: String)
  /// A file that should be removed could not be removed.
  case notRemoved(path: String, cause: String)

  package var facts: ErrorFacts {
    switch self {
    case .missing(let path):
      ErrorFacts(
        "replay.cache.missing", "there is no cache here", at: path, advice: Self.fill)
    case .empty(let path):
      ErrorFacts(
        "replay.cache.empty", "there is no cache here: the folder is empty", at: path,
        advice: Self.fill)
    case .notCache(let path):
      ErrorFacts(
        "replay.cache.notCache", "this folder is not a cache", at: path,
        advice: Self.emptyFolder)
    case .notFolder(let path):
      ErrorFacts(
        "replay.cache.notFolder", "a cache is a folder, and this is not one", at: path,
        advice: Self.emptyFolder)
    case .deadLink(let path, let target):
      ErrorFacts(
        "replay.cache.deadLink",
        "a cache cannot be here: the target of this link does not exist ('\(target)')", at: path,
        advice: "Make the folder that it names, remove the link, or name another: --cache DIR")
    case .linkOut(let path):
      ErrorFacts(
        "replay.cache.linkOut", "a cache cannot be here: this link leads out of the project",
        at: path, advice: "Remove the link, or name the folder that it leads to: --cache DIR")
    case .newer(let path):
      ErrorFacts(
        "replay.cache.newerVersion", "the cache was written by another version of Retake",
        at: path, advice: "Name another folder, or remove this one: no result is lost")
    case .unreadable(let path, let cause):
      ErrorFacts(
        "replay.cache.unreadable", "the cache cannot be read", cause: cause, at: path,
        advice: "Name a folder that can be read: --cache DIR")
    case .unwritable(let path, let cause):
      ErrorFacts(
        "replay.cache.unwritable", "the cache cannot be written", cause: cause, at: path,
        advice: "Name a folder that can be written: --cache DIR; or use no cache: --cache none")
    case .noKey(let path, let cause):
      ErrorFacts(
        "replay.cache.noKey",
        "the key of this user's caches cannot be read or made", cause: cause,
        at: path,
        advice: "Set XDG_STATE_HOME to a folder that you can write, or \(CacheKey.variable) "
          + "to a secret; or use no cache: --cache none")
    case .noProgram:
      ErrorFacts(
        "replay.cache.noProgram",
        "the program's own file cannot be read, so a cache cannot be used",
        advice: "Mount /proc, or use no cache: --cache none")
    case .weakKey:
      ErrorFacts(
        "replay.cache.weakKey",
        "\(CacheKey.variable) is shorter than \(CacheKey.wordBytesMin) bytes",
        advice: "Set it to a secret of at least \(CacheKey.wordBytesMin) bytes, "
          + "such as the output of: openssl rand -hex 32")
    case .tracked(let path, let file):
      ErrorFacts(
        "replay.cache.tracked", "the cache is not used: git tracks it ('\(file)')", at: path,
        advice: "Remove it from the repository: git rm -r --cached \(path.shellWord); "
          + "or name another: --cache DIR")
    case .notRemoved(let path, let cause):
      ErrorFacts(
        "replay.cache.notRemoved", "this could not be removed from the cache", cause: cause,
        at: path,
        advice: "Make the folder writable (mount, chmod, owner) and repeat the command; "
          + "a cache may also be removed by hand: no result is lost")
    }
  }

  private static let fill = "Fill one: retake cache warm SESSION --pipeline P --cache DIR"
  private static let emptyFolder =
    "Name an empty folder, or one that does not exist yet: --cache DIR"
}
