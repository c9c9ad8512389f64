import Foundation
import RetakeCore
import RetakeSession
import RetakeStore

/// A new session's folder with an empty database, locked by this process.
///
/// The folder is made under a hidden name and then renamed. A session with its final name can
/// therefore always be opened, even if the recorder is killed.
struct RecordingSite {
  let folder: SessionFolder
  let store: StoreWriter
  /// Whether the directory entry of the database's log file is known to be durable.
  let hasDurableLog: Bool
  private let lock: RecorderLock

  /// - Parameters:
  ///   - facts: Metadata of the session.
  ///   - synchronize: Makes a folder's entries durable; tests replace it.
  /// - Throws: `RecordError.nameTaken` or `.busy`, or why the folder cannot be written.
  init(
    for target: SessionFolder, facts: [(key: String, value: String)],
    synchronize: (String) -> Int32 = FileSystem.synchronizeFolder
  ) throws {
    try Self.checkFree(target)
    let parent = URL(fileURLWithPath: target.path).deletingLastPathComponent().path
    // Its lock, which lasts until the end, keeps it from being removed as the folder of a killed
    // process.
    let (hidden, pending) = try SessionBuilder.makeFolder(beside: target)
    defer { withExtendedLifetime(pending) {} }
    var made = hidden
    do {
      // A lock of flock belongs to the open file and not to its path, so it survives the rename
      // (man 2 flock).
      lock = try RecorderLock(creating: hidden.lock)
      // Closed again before the rename: SQLite finds the log by the database's path ("How To
      // Corrupt An SQLite Database File").
      let first = try Self.makeDatabase(hidden.database, facts: facts)
      try Data(Self.notes(target.name, facts: facts).utf8)
        .write(to: URL(fileURLWithPath: hidden.notes))
      try Self.complete(hidden, synchronize)
      let moved = FileSystem.move(hidden.path, to: target.path)
      guard moved == 0 else {
        // Another recorder may have taken the name meanwhile, which says more than the system's
        // error.
        try Self.checkFree(target)
        throw Self.failed(target.path, moved)
      }
      // From now on the folder has the final name, and a failure must not leave it taken.
      made = target
      // The new name is an entry of the parent.
      let named = synchronize(parent)
      guard named == 0 else { throw Self.failed(parent, named) }
      (store, hasDurableLog) = try Self.openDatabase(target, after: first, synchronize)
    } catch {
      try? FileManager.default.removeItem(atPath: made.path)
      throw error is any CodedError
        ? error : SessionError.write(target.path, error)
    }
    folder = target
  }

  private static func checkFree(_ target: SessionFolder) throws {
    guard FileManager.default.fileExists(atPath: target.path) else { return }
    throw RecorderLock.isHeld(target.lock)
      ? RecordError.busy(path: target.path, by: RecorderLock.holder(of: target.lock))
      : .nameTaken(path: target.path)
  }

  private static func makeDatabase(
    _ path: String, facts: [(key: String, value: String)]
  ) throws -> StoreWriter.Commit {
    let store = try StoreWriter(creating: path, durability: .recording)
    for fact in facts { store.setMeta(fact.key, fact.value) }
    let commit = try store.commit()
    try store.release()
    return commit
  }

  /// Opens the database for recording. The directory entry of the log file is made durable here,
  /// because SQLite ignores an error of that. If another process has already locked the database,
  /// the recording begins and the rows wait; the log is then made durable with the first commit.
  private static func openDatabase(
    _ folder: SessionFolder, after first: StoreWriter.Commit, _ synchronize: (String) -> Int32
  ) throws -> (store: StoreWriter, hasDurableLog: Bool) {
    let store = try StoreWriter(continuing: folder.database, after: first)
    store.setMeta("closed", "0")
    do {
      try store.commit()
    } catch StoreError.busy {
      return (store, false)
    }
    let number = synchronize(folder.path)
    guard number == 0 else {
      // Its files are removed.
      store.abandon()
      throw failed(folder.path, number)
    }
    return (store, true)
  }

  private static func failed(_ path: String, _ number: Int32) -> SessionError {
    .write(path, POSIXError(number: number))
  }

  /// Makes the folder's contents durable. After a loss of power, a folder with the final name must
  /// be complete.
  private static func complete(
    _ hidden: SessionFolder, _ synchronize: (String) -> Int32
  ) throws {
    // Opening for reading and fsync serve files as well as folders.
    for path in [hidden.database, hidden.notes, hidden.media, hidden.path] {
      let number = synchronize(path)
      guard number == 0 else { throw failed(path, number) }
    }
  }

  private static func notes(_ name: String, facts: [(key: String, value: String)]) -> String {
    // A backquote or line end in the name would end the code span in Markdown.
    let source = facts.first { $0.key == "source" }?.value ?? "a live source"
    let lines = [
      "# \(name)", "", "Recorded from `\(source.filter { $0 != "`" && !$0.isNewline })`.",
    ]
    let questions = [
      ("What", "_What is to be seen, and why is it worth keeping?_"),
      ("Where", "_The place, the camera and how it was mounted._"),
      ("When", "_The date and time, the light and the weather._"),
      ("Licence", "_Whose footage is it, and who may use it for what?_"),
    ]
    return (lines + questions.flatMap { ["", "## \($0.0)", "", $0.1] })
      .joined(separator: "\n") + "\n"
  }

  /// Removes the lock; the session is complete.
  func unlock() {
    lock.remove(folder.lock)
    // If this fails, a file may be left that no process has locked, and only a lock counts.
    _ = FileSystem.synchronizeFolder(folder.path)
  }

  /// Removes a session without a recorded frame.
  func discard() {
    store.abandon()
    try? FileManager.default.removeItem(atPath: folder.path)
  }
}
