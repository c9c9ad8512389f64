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
  private let lock: RecorderLock

  /// - Parameter facts: Metadata of the whole session.
  /// - Throws: `RecordError.nameTaken` or `.busy`, or why the folder cannot be written.
  init(for target: SessionFolder, facts: [(key: String, value: String)]) throws(RecordError) {
    try Self.checkFree(target)
    let parent = URL(fileURLWithPath: target.path).deletingLastPathComponent().path
    // The random part keeps recorders that start at the same time out of each other's folder.
    let hidden = SessionFolder(path: "\(parent)/.\(target.name).\(UUID().uuidString.prefix(8))")
    Self.sweep(parent, prefix: ".\(target.name).")
    do {
      try FileManager.default.createDirectory(
        atPath: hidden.media, withIntermediateDirectories: true)
      // A lock of flock belongs to the open file and not to its path, so it survives the rename
      // (man 2 flock).
      lock = try RecorderLock(taking: hidden.lock)
      // Closed again before the rename: SQLite finds the log by the database's path ("How To
      // Corrupt An SQLite Database File").
      let first = try Self.makeDatabase(hidden.database, facts: facts)
      try Data(Self.notes(target.name, facts: facts).utf8)
        .write(to: URL(fileURLWithPath: hidden.notes))
      let moved = Self.name(hidden, as: target, parent: parent)
      guard moved == 0 else {
        // Another recorder may have taken the name meanwhile, which says more than the system's
        // error.
        try Self.checkFree(target)
        throw RecordError(
          passing: SessionError.write(path: target.path, cause: FileSystem.text(moved)))
      }
      store = try Self.openDatabase(target, after: first)
    } catch {
      try? FileManager.default.removeItem(atPath: hidden.path)
      let isOurs = error is any CodedError
      throw RecordError(
        passing: isOurs
          ? error : SessionError.write(path: target.path, cause: error.systemText))
    }
    folder = target
  }

  private static func checkFree(_ target: SessionFolder) throws(RecordError) {
    guard FileManager.default.fileExists(atPath: target.path) else { return }
    throw RecorderLock.isHeld(target.lock)
      ? .busy(path: target.path, by: RecorderLock.holder(of: target.lock))
      : .nameTaken(path: target.path)
  }

  private static func makeDatabase(
    _ path: String, facts: [(key: String, value: String)]
  ) throws(StoreError) -> StoreWriter.Commit {
    let store = try StoreWriter(creating: path, durability: .recording)
    for fact in facts { store.setMeta(fact.key, fact.value) }
    let commit = try store.commit()
    try store.release()
    return commit
  }

  /// Opens the database for recording. The directory entry of the log file is made durable here,
  /// because SQLite ignores an error of that. If another process has already locked the database,
  /// the recording begins and the rows wait.
  private static func openDatabase(
    _ folder: SessionFolder, after first: StoreWriter.Commit
  ) throws -> StoreWriter {
    let store = try StoreWriter(continuing: folder.database, after: first)
    store.setMeta("closed", "0")
    do throws(StoreError) {
      try store.commit()
    } catch .busy {
      return store
    }
    let number = FileSystem.synchroniseFolder(folder.path)
    guard number == 0 else {
      throw SessionError.write(path: folder.path, cause: FileSystem.text(number))
    }
    return store
  }

  /// Removes the folders of recorders of the same name that were killed during their start.
  private static func sweep(_ parent: String, prefix: String) {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? []
    // 8 is the length of the random part that `init` adds.
    for name in names where name.hasPrefix(prefix) && name.count == prefix.count + 8 {
      let left = SessionFolder(path: parent + "/" + name)
      // Without the file, a recorder may be between making the folder and taking the lock.
      guard FileManager.default.fileExists(atPath: left.lock), !RecorderLock.isHeld(left.lock)
      else { continue }
      try? FileManager.default.removeItem(atPath: left.path)
    }
  }

  /// Makes the folder's contents durable, then renames it. If several recorders want the same name,
  /// only one succeeds. Returns 0 or the system's error number.
  private static func name(_ hidden: SessionFolder, as target: SessionFolder, parent: String)
    -> Int32
  {
    // Before the rename: after a loss of power, a folder with the final name must be complete.
    // Opening for reading and fsync serve files as well as folders.
    for path in [hidden.database, hidden.notes, hidden.media, hidden.path] {
      let number = FileSystem.synchroniseFolder(path)
      guard number == 0 else { return number }
    }
    let number = FileSystem.move(hidden.path, to: target.path)
    // The new name is an entry of the parent.
    return number == 0 ? FileSystem.synchroniseFolder(parent) : number
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
    _ = FileSystem.synchroniseFolder(folder.path)
  }

  /// Removes a session in which nothing was recorded.
  func discard() {
    store.abandon()
    try? FileManager.default.removeItem(atPath: folder.path)
  }
}
