import RetakeCore

/// Errors of a cache.
package enum CacheError: CodedError, Hashable {
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

  package var code: String {
    switch self {
    case .missing: "replay.cache.missing"
    case .empty: "replay.cache.empty"
    case .notCache: "replay.cache.notCache"
    case .notFolder: "replay.cache.notFolder"
    case .deadLink: "replay.cache.deadLink"
    case .linkOut: "replay.cache.linkOut"
    case .newer: "replay.cache.newerVersion"
    case .unreadable: "replay.cache.unreadable"
    case .unwritable: "replay.cache.unwritable"
    case .noKey: "replay.cache.noKey"
    case .noProgram: "replay.cache.noProgram"
    case .weakKey: "replay.cache.weakKey"
    case .tracked: "replay.cache.tracked"
    case .notRemoved: "replay.cache.notRemoved"
    }
  }

  package var message: String {
    switch self {
    case .missing: "there is no cache here"
    case .empty: "there is no cache here: the folder is empty"
    case .notCache: "this folder holds something else than a cache"
    case .notFolder: "a cache is a folder, and this is not one"
    case .deadLink(_, let target):
      "a cache cannot be here: this link leads to nothing ('\(target)')"
    case .linkOut: "a cache cannot be here: this link leads out of the project"
    case .newer: "the cache was written by another version of Retake"
    case .unreadable: "the cache cannot be read"
    case .unwritable: "the cache cannot be written"
    case .noKey: "the key that tells this user's cache from others cannot be read or made"
    case .noProgram: "the program's own file cannot be read, so a cache cannot be used"
    case .weakKey: "\(CacheKey.variable) is shorter than \(CacheKey.wordBytesMin) bytes"
    case .tracked(_, let file): "the cache is not used: git tracks it ('\(file)')"
    case .notRemoved: "this could not be taken away from the cache"
    }
  }

  package var cause: String? {
    switch self {
    case .unreadable(_, let cause), .unwritable(_, let cause), .notRemoved(_, let cause),
      .noKey(_, let cause):
      cause
    default: nil
    }
  }

  package var place: Place? {
    switch self {
    case .missing(let path), .empty(let path), .notCache(let path), .notFolder(let path),
      .deadLink(let path, _), .linkOut(let path), .newer(let path), .unreadable(let path, _),
      .unwritable(let path, _), .notRemoved(let path, _), .noKey(let path, _),
      .tracked(let path, _):
      Place(file: path)
    case .noProgram, .weakKey: nil
    }
  }

  package var advice: String? {
    switch self {
    case .missing, .empty: "Fill one: retake cache warm SESSION --pipeline P --cache DIR"
    case .notCache, .notFolder:
      "Name an empty folder, or one that does not exist yet: --cache DIR"
    case .deadLink: "Make the folder that it names, remove the link, or name another: --cache DIR"
    case .linkOut: "Remove the link, or name the folder that it leads to: --cache DIR"
    case .newer: "Name another folder, or remove this one: nothing in it is lost"
    case .unreadable: "Name a folder that can be read: --cache DIR"
    case .unwritable:
      "Name a folder that can be written: --cache DIR; or do without one: --cache none"
    case .noKey:
      "Set XDG_STATE_HOME to a folder that you can write, or \(CacheKey.variable) to a secret; or do "
        + "without a cache: --cache none"
    case .noProgram: "Mount /proc, or do without a cache: --cache none"
    case .weakKey:
      "Set it to a secret of at least \(CacheKey.wordBytesMin) bytes, such as the output of: "
        + "openssl rand -hex 32"
    case .tracked(let path, _):
      "Take it out of the repository: git rm -r --cached \(path.shellWord); or name another: "
        + "--cache DIR"
    case .notRemoved:
      "Make the folder writable (mount, chmod, owner) and type it again; a cache may also be removed "
        + "by hand: nothing in it is lost"
    }
  }
}
