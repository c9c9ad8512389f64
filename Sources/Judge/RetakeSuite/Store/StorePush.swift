import Foundation
import RetakeCore
import RetakeMedia
import RetakeSession

/// Sends sessions to a store, and writes their pointers.
package struct StorePush {
  package struct Item: Hashable, Sendable, Encodable {
    package var session: String
    package var bytes: Int64
    /// The bytes of the session's files that the store did not have.
    package var sentBytes: Int64
    /// The file that replaces the session in git.
    package var pointer: String
  }

  private let project: Project
  private let remote: String?

  /// - Parameter remote: The store; the store of retake.yml if `nil`.
  package init(project: Project, remote: String?) {
    (self.project, self.remote) = (project, remote ?? project.store.remote)
  }

  /// - Parameter names: Names in Recordings, folders, or globs.
  /// - Throws: `SuiteError`, `MediaError` for a file that is a pointer of Git LFS,
  ///   `RuntimeError.interrupted`. Objects that were sent are not sent again.
  package func run(_ names: [String]) throws -> [Item] {
    guard let remote else { throw SuiteError.noRemote }
    guard let address = StoreAddress(remote) else { throw SuiteError.badRemote(remote) }
    let store = try address.open(in: project)
    let sessions = try Selection(sessions: names).sessionPaths(in: project)
      .map { SessionFolder(path: try project.sessionPath($0)) }
    var (pointers, paths): ([SessionPointer], [StoredObject: String]) = ([], [:])
    for session in sessions {
      try Project.checkName(ofSession: session.path)
      let pointer = try SessionPointer(
        digesting: session, isInterrupted: project.store.isInterrupted)
      pointers.append(pointer)
      for file in pointer.files { paths[file.object] = "\(session.path)/\(file.path)" }
    }
    var seen: Set<StoredObject> = []
    let files = pointers.flatMap(\.objects).filter { seen.insert($0).inserted }
      .compactMap { object in paths[object].map { (object: object, path: $0) } }
    let present = try withProgress("comparing", files) { try store.present(files, report: $0) }
    let missing = files.filter { !present.contains($0.object) }
    try withProgress("pushing", missing) { try store.send(missing, report: $0) }
    return try pointers.map { pointer in
      try write(pointer, remote)
      let sent = pointer.objects.filter { !present.contains($0) }
      return Item(
        session: pointer.name, bytes: pointer.bytes,
        sentBytes: sent.reduce(0) { $0 + $1.bytes }, pointer: project.pointerFile(pointer.name))
    }
  }

  /// Shows the progress of work on these files.
  private func withProgress<Result>(
    _ work: String, _ files: [(object: StoredObject, path: String)],
    _ body: ((Int64) -> Void) throws -> Result
  ) throws -> Result {
    let total = files.reduce(0) { $0 + $1.object.bytes }
    var done: Int64 = 0
    defer { project.store.progress(work, total, total) }
    return try body {
      done += $0
      project.store.progress(work, done, total)
    }
  }

  /// After its objects are in the store. A pointer of the same files keeps its other stores.
  private func write(_ new: SessionPointer, _ remote: String) throws {
    var pointer = new
    let file = project.pointerFile(pointer.name)
    if let old = try? SessionPointer(reading: file), old.digest == new.digest {
      pointer.remotes = old.remotes
    }
    if !pointer.remotes.contains(remote) { pointer.remotes.append(remote) }
    do {
      try FileManager.default.createDirectory(
        atPath: project.recordings, withIntermediateDirectories: true)
      try Data(pointer.text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    } catch {
      throw SuiteError.notWritable(path: file, cause: error.systemText)
    }
  }
}
