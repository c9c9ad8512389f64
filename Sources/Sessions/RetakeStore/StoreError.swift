package import RetakeCore

/// An error of a session's database.
package enum StoreError: RetakeError {
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
  /// An allocation of SQLite failed; the state of the database is unknown.
  case noMemory(path: String)
  /// The system does not let this user read the file, or search its folder.
  case noPermission(path: String)
  case readFailed(path: String, cause: String)
  case writeFailed(path: String, cause: String)
  /// The writer was closed, or an earlier commit failed: the writer does not write any more.
  case closed(path: String)

  package var facts: ErrorFacts {
    switch self {
    case .missing(let path):
      ErrorFacts(
        "store.missing", "there is no session database here", at: path,
        advice: "Make a session with: retake import FILE")
    case .exists(let path):
      ErrorFacts(
        "store.exists", "a session database exists here already", at: path,
        advice: "Choose another name with --name")
    case .notSession(let path, let cause):
      ErrorFacts(
        "store.notSession", "this is not a session database", cause: cause, at: path,
        // A file of this name was one.
        advice: path.hasSuffix("/session.sqlite")
          ? Self.repair(path) : "Make a session with: retake import FILE")
    case .truncated(let path, let expected, let actual):
      ErrorFacts(
        "store.truncated", "the session database is cut short: \(actual) of \(expected) bytes",
        at: path, advice: Self.repair(path))
    case .corrupt(let path, let cause):
      ErrorFacts(
        "store.corrupt", "the session database is damaged", cause: cause, at: path,
        advice: Self.repair(path))
    case .unsafeFile(let path, let cause):
      ErrorFacts(
        "store.file.unsafe", "the session has a file that is not opened", cause: cause, at: path,
        advice: "Do not use a session of unknown origin. Where it is yours, look at the file: "
          + "ls -ls \(path)")
    case .schemaTooNew(let path, let found):
      ErrorFacts(
        "store.schema.tooNew",
        "the session has schema \(found), this version reads up to \(Schema.version)", at: path,
        advice: "Update retake, or import the media again with this version")
    case .schemaUnknown(let path, let object):
      ErrorFacts(
        "store.schema.unknown",
        "the session database's '\(object)' differs from schema \(Schema.version)", at: path,
        advice: "This database was not written by retake. Where the media is yours: "
          + "retake session recover \(Self.folder(path)) --from-media")
    case .busy(let path, let holder):
      ErrorFacts(
        "store.busy",
        holder.map { "the session's database is held by \($0)" }
          ?? "another program writes to this session",
        at: path,
        advice: holder.map { "End \($0), or wait until it has ended" }
          ?? "Wait until the recording has ended")
    case .diskFull(let path):
      ErrorFacts(
        "store.diskFull", "the disk is full", at: path,
        advice: "Free some space on it and try again; df -h lists the disks")
    case .noMemory(let path):
      ErrorFacts(
        "store.memory", "there was no memory to read or write the session database", at: path,
        advice: "Allow more memory (ulimit -v), or end other programs", kind: .memory)
    case .noPermission(let path):
      ErrorFacts(
        "store.permission", "no permission to read this; it may be intact", at: path,
        advice: "Make it readable: chmod u+rX \(path.shellWord)")
    case .readFailed(let path, let cause):
      ErrorFacts(
        "store.read", "the session database cannot be read", cause: cause, at: path,
        advice: Self.checkDisk)
    case .writeFailed(let path, let cause):
      ErrorFacts(
        "store.write", "the session database cannot be written", cause: cause, at: path,
        advice: Self.checkDisk)
    case .closed(let path):
      ErrorFacts(
        "store.closed", "the session database is closed for writing", at: path,
        advice: Self.checkDisk)
    }
  }

  private static let checkDisk = "Check the disk and the folder's permissions"

  private static func repair(_ path: String) -> String {
    "Find the damage: retake session check \(folder(path)); "
      + "rebuild the index: retake session recover \(folder(path)) --from-media, "
      + "or copy the session again from an intact copy"
  }

  /// The session that the database belongs to, as a word of a command.
  private static func folder(_ path: String) -> String {
    guard let end = path.lastIndex(of: "/"), end > path.startIndex else { return path.shellWord }
    return String(path[..<end]).shellWord
  }
}
