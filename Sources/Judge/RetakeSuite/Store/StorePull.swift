import RetakeBuffers
import RetakeCore

/// Fetches sessions from stores into the local cache.
package struct StorePull {
  package struct Item: Hashable, Sendable, Encodable {
    package var session: String
    package var bytes: Int64
    /// The bytes that came from a store; 0 for a session that was in the local cache.
    package var fetchedBytes: Int64
    /// The session's folder in the local cache.
    package var path: String
  }

  private let project: Project

  package init(project: Project) { self.project = project }

  /// - Parameter names: Names in Recordings or globs; empty is every pointer.
  /// - Throws: As `Project.pull`, and `SuiteError.noSession` for a name without a pointer.
  package func run(_ names: [String]) throws -> [Item] {
    try project.pointers(names).map { pointer in
      let fetched = Locked<Int64>(0)
      var project = project
      let progress = project.store.progress
      project.store.progress = { name, done, total in
        fetched.withLock { $0 = done }
        progress(name, done, total)
      }
      let lease = try project.pull(pointer.name)
      return Item(
        session: pointer.name, bytes: pointer.bytes, fetchedBytes: fetched.withLock { $0 },
        path: lease.path)
    }
  }
}
