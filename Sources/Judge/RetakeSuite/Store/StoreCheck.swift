import RetakeCore

/// Reads all objects of sessions in their stores, and compares the digests.
package struct StoreCheck {
  package struct Finding: Hashable, Sendable, Encodable {
    package enum Problem: String, Sendable, Encodable {
      case missing
      case damaged
    }

    package var session: String
    package var remote: String
    /// The object's place in the store.
    package var object: String
    package var problem: Problem
  }

  package struct Report: Hashable, Sendable, Encodable {
    /// Objects that have the digest in their name.
    package var objects = 0
    package var bytes: Int64 = 0
    package var findings: [Finding] = []
  }

  private let project: Project
  private let remote: String?

  /// - Parameter remote: The store to check; every store of each pointer if `nil`.
  package init(project: Project, remote: String?) {
    (self.project, self.remote) = (project, remote)
  }

  /// - Parameter names: Names in Recordings or globs; empty is every pointer.
  /// - Throws: `SuiteError` for a pointer or a store that cannot be read, `RuntimeError.interrupted`.
  package func run(_ names: [String]) throws -> Report {
    var report = Report()
    // Sessions share objects.
    var known: [String: [StoredObject: String]] = [:]
    let pointers = try project.pointers(names)
    let total = pointers.reduce(0) { $0 + $1.bytes }
    var done: Int64 = 0
    defer { project.store.progress("verifying", total, total) }
    for pointer in pointers {
      project.store.progress("verifying", done, total)
      done += pointer.bytes
      for remote in remote.map({ [$0] }) ?? pointer.remotes {
        guard let address = StoreAddress(remote) else { throw SuiteError.badRemote(remote) }
        let unread = pointer.objects.filter { known[remote]?[$0] == nil }
        let read = try address.open(in: project).digests(of: unread)
        known[remote, default: [:]].merge(read) { $1 }
        report.objects += read.count { $0.key.sha256 == $0.value }
        report.bytes += read.reduce(0) { $0 + ($1.key.sha256 == $1.value ? $1.key.bytes : 0) }
        for object in pointer.objects {
          let digest = known[remote]?[object]
          guard digest != object.sha256 else { continue }
          report.findings.append(
            Finding(
              session: pointer.name, remote: remote, object: "objects/\(object.path)",
              problem: digest == nil ? .missing : .damaged))
        }
      }
    }
    return report
  }
}
