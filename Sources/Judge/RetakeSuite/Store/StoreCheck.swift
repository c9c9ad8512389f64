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

  /// The objects of a batch are read by one process of a bucket's client, which costs more than
  /// small objects do.
  private static let batchBytes: Int64 = 256 << 20

  /// - Parameter names: Names in Recordings or globs; empty is every pointer.
  /// - Throws: `SuiteError` for a pointer or a store that cannot be read, `RuntimeError.interrupted`.
  package func run(_ names: [String]) throws -> Report {
    var report = Report()
    let pointers = try project.pointers(names)
    let remotes = remote.map { [$0] } ?? Set(pointers.flatMap(\.remotes)).sorted()
    var digests: [String: [StoredObject: String]] = [:]
    for name in remotes {
      let users = pointers.filter { remote != nil || $0.remotes.contains(name) }
      let read = try self.digests(of: users.flatMap(\.objects), in: name)
      let whole = read.filter { $0.key.sha256 == $0.value }
      report.objects += whole.count
      report.bytes += whole.reduce(0) { $0 + $1.key.bytes }
      digests[name] = read
    }
    for pointer in pointers {
      for name in remote.map({ [$0] }) ?? pointer.remotes {
        for object in pointer.objects {
          let digest = digests[name]?[object]
          guard digest != object.sha256 else { continue }
          report.findings.append(
            Finding(
              session: pointer.name, remote: name, object: "objects/\(object.path)",
              problem: digest == nil ? .missing : .damaged))
        }
      }
    }
    return report
  }

  /// The digest of each object that the store has. Sessions share objects; each is read once.
  private func digests(
    of objects: [StoredObject], in remote: String
  ) throws -> [StoredObject: String] {
    guard let address = StoreAddress(remote) else { throw SuiteError.badRemote(remote) }
    let store = try address.open(in: project)
    var known: Set<StoredObject> = []
    var rest = objects.filter { known.insert($0).inserted }[...]
    let total = rest.reduce(0) { $0 + $1.bytes }
    var (done, found): (Int64, [StoredObject: String]) = (0, [:])
    defer { project.store.progress("verifying", total, total) }
    while !rest.isEmpty {
      project.store.progress("verifying", done, total)
      var bytes: Int64 = 0
      // At least one object, which may be larger than a batch.
      let batch = rest.prefix { object in
        defer { bytes += object.bytes }
        return bytes < Self.batchBytes
      }
      rest = rest.dropFirst(batch.count)
      done += batch.reduce(0) { $0 + $1.bytes }
      found.merge(try store.digests(of: Array(batch))) { $1 }
    }
    return found
  }
}
