import Foundation
import RetakeCore
import RetakeMedia

/// Fetches the objects of a session from the first stores that have them, and checks each digest.
struct SessionFetch {
  let project: Project
  let pointer: SessionPointer
  /// Contains the objects of an earlier fetch that did not end.
  let staging: String

  /// - Throws: `SuiteError.damagedObject`, `.missingObject`, `.offline`, an error of a store,
  ///   `RuntimeError.interrupted`. Objects that were fetched and checked stay for the next fetch.
  func run() throws {
    var missing = try pointer.objects.filter { try !isChecked($0) }
    var problem: (any Error)?
    guard !missing.isEmpty else { return }
    if project.store.isOffline { throw SuiteError.offline(pointer) }
    let total = missing.reduce(0) { $0 + $1.bytes }
    var done: Int64 = 0
    func report() { project.store.progress("fetching \(pointer.name)", done, total) }
    defer {
      done = max(done, total)
      report()
    }
    for remote in pointer.remotes {
      do {
        let store = try StoreAddress(remote)?.open(in: project)
        try store?.fetch(missing, into: staging) {
          done += $0
          report()
        }
      } catch let error as SuiteError {
        // The next store may have the objects.
        problem = problem ?? error
      }
      missing = try missing.filter { object in
        let wasFetched = RegularFile.isTaken("\(staging)/\(object.sha256)")
        let isWhole = try isChecked(object)
        if wasFetched, !isWhole {
          problem = problem ?? SuiteError.damagedObject("\(remote)/objects/\(object.path)")
        }
        return !isWhole
      }
      if missing.isEmpty { return }
    }
    throw problem ?? SuiteError.missingObject(missing[0], of: pointer)
  }

  /// Whether the object is here with its digest. Any other file of that name is removed.
  private func isChecked(_ object: StoredObject) throws -> Bool {
    let path = "\(staging)/\(object.sha256)"
    guard RegularFile.isTaken(path) else { return false }
    if (try? RegularFile.facts(of: path))?.bytes == object.bytes,
      try read(path) == object
    {
      return true
    }
    try? FileManager.default.removeItem(atPath: path)
    return false
  }

  /// `nil` for a file that cannot be read as a session's: a pointer of Git LFS.
  private func read(_ path: String) throws -> StoredObject? {
    do {
      return try StoredObject(digesting: path, isInterrupted: project.store.isInterrupted)
    } catch is MediaError {
      return nil
    }
  }
}
