import RetakeCore

/// An error of a session's database.
package enum StoreError: CodedError {
  case missing(path: String)
  case exists(path: String)
  /// The file is not a SQLite database, or not the database of a session.
  case notSession(path: String, cause: String)
  /// The header specifies more bytes than the file has.
  case truncated(path: String, expectedBytes: Int64, actualBytes: Int64)
  case corrupt(path: String, cause: String)
  /// The database, or a file that SQLite would use with it, is a link, a pipe or far too large.
  case unsafeFile(path: String, cause: String)
  case schemaTooNew(path: String, found: Int64)
  /// The version is known, but a table does not match it.
  case schemaUnknown(path: String, object: String)
  /// Another process has locked the database; it is named if the system reports it.
  case busy(path: String, holder: LockHolder?)
  case diskFull(path: String)
  /// An allocation of SQLite failed; nothing is known about the database.
  case noMemory(path: String)
  case readFailed(path: String, cause: String)
  case writeFailed(path: String, cause: String)
  /// The writer was closed, or an earlier commit failed: nothing more is written.
  case closed(path: String)

  package var code: String {
    switch self {
    case .missing: "store.missing"
    case .exists: "store.exists"
    case .notSession: "store.notSession"
    case .truncated: "store.truncated"
    case .corrupt: "store.corrupt"
    case .unsafeFile: "store.file.unsafe"
    case .schemaTooNew: "store.schema.tooNew"
    case .schemaUnknown: "store.schema.unknown"
    case .busy: "store.busy"
    case .diskFull: "store.diskFull"
    case .noMemory: "store.memory"
    case .readFailed: "store.read"
    case .writeFailed: "store.write"
    case .closed: "store.closed"
    }
  }

  package var message: String {
    switch self {
    case .missing: "there is no session database here"
    case .exists: "a session database exists here already"
    case .notSession: "this is not a session database"
    case .truncated(_, let expected, let actual):
      "the session database is cut short: \(actual) of \(expected) bytes"
    case .corrupt: "the session database is damaged"
    case .unsafeFile: "the session has a file that is not opened"
    case .schemaTooNew(_, let found):
      "the session has schema \(found), this version reads up to \(Schema.version)"
    case .schemaUnknown(_, let object):
      "the session database's '\(object)' is not the one of schema \(Schema.version)"
    case .busy(_, let holder):
      holder.map { "the session's database is held by \($0)" }
        ?? "another program writes to this session"
    case .diskFull: "the disk is full"
    case .noMemory: "there was no memory to read or write the session database"
    case .readFailed: "the session database cannot be read"
    case .writeFailed: "the session database cannot be written"
    case .closed: "the session database is closed for writing"
    }
  }

  package var cause: String? {
    switch self {
    case .notSession(_, let cause), .corrupt(_, let cause), .readFailed(_, let cause),
      .writeFailed(_, let cause), .unsafeFile(_, let cause):
      cause
    default: nil
    }
  }

  package var path: String {
    switch self {
    case .missing(let path), .exists(let path), .notSession(let path, _),
      .truncated(let path, _, _), .corrupt(let path, _), .unsafeFile(let path, _),
      .schemaTooNew(let path, _),
      .schemaUnknown(let path, _), .busy(let path, _), .diskFull(let path),
      .noMemory(let path), .readFailed(let path, _),
      .writeFailed(let path, _), .closed(let path):
      path
    }
  }

  /// The session that the database belongs to.
  private var folder: String {
    guard let end = path.lastIndex(of: "/"), end > path.startIndex else { return path }
    return String(path[..<end])
  }

  package var place: Place? { Place(file: path) }

  package var advice: String? {
    switch self {
    case .missing, .notSession: "Make a session with: retake import FILE"
    case .exists: "Choose another name with --name"
    case .truncated, .corrupt:
      "See what is damaged: retake session doctor \(folder.shellWord); "
        + "rebuild the index: retake session recover \(folder.shellWord) --from-media, "
        + "or copy the session again from where it is whole"
    case .unsafeFile(let path, _):
      "Do not use a session of unknown origin. Where it is yours, look at the file: ls -ls \(path)"
    case .schemaTooNew: "Update retake, or import the media again with this version"
    case .schemaUnknown:
      "This database was not written by retake. Where the media is yours: "
        + "retake session recover \(folder.shellWord) --from-media"
    case .busy(_, let holder):
      holder.map { "End \($0), or wait until it has ended" } ?? "Wait until the recording has ended"
    case .diskFull: "Free some space and try again"
    case .noMemory: "Give it more memory (ulimit -v), or end other programs"
    case .readFailed, .writeFailed, .closed: "Check the disk and the folder's permissions"
    }
  }
}
