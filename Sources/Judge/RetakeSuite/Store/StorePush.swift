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
    let objects = pointers.flatMap(\.objects).filter { seen.insert($0).inserted }
    let present = try store.present(objects)
    let missing = objects.filter { !present.contains($0) }
    try send(missing, from: paths, to: store)
    return try pointers.map { pointer in
      try write(pointer, remote)
      let sent = pointer.objects.filter { !present.contains($0) }
      return Item(
        session: pointer.name, bytes: pointer.bytes,
        sentBytes: sent.reduce(0) { $0 + $1.bytes }, pointer: project.pointerFile(pointer.name))
    }
  }

  private func send(
    _ objects: [StoredObject], from paths: [StoredObject: String], to store: any ObjectStore
  ) throws {
    let total = objects.reduce(0) { $0 + $1.bytes }
    var done: Int64 = 0
    defer { project.store.progress("pushing", total, total) }
    try store.send(objects.compactMap { object in paths[object].map { (object, $0) } }) {
      done += $0
      project.store.progress("pushing", done, total)
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
