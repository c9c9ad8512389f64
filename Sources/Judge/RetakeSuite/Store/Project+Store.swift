import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeReplay
import RetakeRuntime

extension Project {
  /// Where sessions of stores are kept: `.retake/sessions`.
  package var sessionCache: String { folder + "/.retake/sessions" }

  /// Whether the store of the project needs the program rclone.
  package var usesRclone: Bool {
    if case .rclone? = store.remote.flatMap({ StoreAddress($0) }) { true } else { false }
  }

  /// The pointer of a session.
  package func pointerFile(_ name: String) -> String {
    "\(recordings)/\(name)\(SessionPointer.ending)"
  }

  /// The names of the pointers in Recordings, sorted by their bytes.
  var pointerNames: [String] { SessionPointer.names(in: recordings) }

  /// The name of a session in Recordings that has a pointer and no folder: by its name, or by the
  /// path of its folder or of its pointer. `nil` for any other session.
  func storedName(_ session: String) -> String? {
    // The folder of a person who has the session counts more than the pointer.
    pointedName(session).flatMap { hasFolder($0) ? nil : $0 }
  }

  func hasFolder(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: "\(recordings)/\(name)")
  }

  /// The same for a session that has a pointer, and perhaps a folder, too.
  func pointedName(_ session: String) -> String? {
    let url = URL(
      fileURLWithPath: session.contains("/") ? path(session) : "\(recordings)/\(session)"
    )
    .standardizedFileURL
    let parent = URL(fileURLWithPath: recordings).standardizedFileURL.path
    guard url.deletingLastPathComponent().path == parent else { return nil }
    var name = url.lastPathComponent
    if name.hasSuffix(SessionPointer.ending) { name.removeLast(SessionPointer.ending.count) }
    return name.isSafeName && RegularFile.isTaken(pointerFile(name)) ? name : nil
  }

  /// The pointers of names or globs; all pointers of Recordings if there are no names.
  ///
  /// - Throws: `SuiteError` for a name without a pointer, and for a pointer that cannot be read.
  func pointers(_ names: [String]) throws -> [SessionPointer] {
    let known = pointerNames
    let chosen =
      try names.isEmpty
      ? known
      : names.flatMap { name in
        if Glob.isPattern(name) { return known.filter { Glob.matches(name, $0) } }
        // A session that is also here as a folder has its pointer, too.
        guard let found = known.contains(name) ? name : storedName(name) else {
          throw SuiteError.noPointer(name, in: recordings, known: known)
        }
        return [found]
      }
    guard !chosen.isEmpty else { throw SuiteError.noPointer(nil, in: recordings, known: known) }
    return try chosen.map { try SessionPointer(reading: pointerFile($0)) }
  }

  /// A session's folder for a command that changes the session.
  ///
  /// - Throws: `SuiteError.pulledCopy` for the session of a pointer; as `sessionPath`.
  package func ownSessionPath(_ name: String) throws -> String {
    guard let stored = storedName(name) else { return try sessionPath(name) }
    throw SuiteError.pulledCopy(stored, at: try pull(stored).path, in: recordings)
  }

  // MARK: Fetched

  /// A session of a store in the local cache, fetched if it is not there.
  ///
  /// - Throws: `SuiteError` with a code `suite.store.…`, `RuntimeError.interrupted`.
  package func pull(_ name: String) throws -> SessionLease {
    // Files that came with the repository must not lead out of the project.
    try CacheFolder.check(sessionCache, in: folder)
    let pointer = try SessionPointer(reading: pointerFile(name))
    let cache = SessionCache(
      folder: sessionCache, bytesMax: store.cacheBytes, isInterrupted: store.isInterrupted)
    return try cache.lease(pointer) { staging in
      try SessionFetch(project: self, pointer: pointer, staging: staging).run()
    }
  }

  /// The selected cases with the sessions of stores in the local cache. A session that cannot be
  /// fetched is the problem of its cases.
  ///
  /// - Returns: The sessions stay in the cache as long as the leases exist.
  func pulled(_ selected: [SelectedCase]) throws -> ([SelectedCase], [SessionLease]) {
    var known: [String: Result<SessionLease, SuiteError>] = [:]
    let cases = try selected.map { item in
      guard item.problem == nil, let session = item.sessionRead, let name = storedName(session)
      else { return item }
      if known[name] == nil {
        do {
          known[name] = .success(try pull(name))
        } catch let error as any RetakeError where error.facts.kind != .interrupted {
          known[name] = .failure(SuiteError(facts: error.facts))
        }
      }
      var item = item
      switch known[name] {
      case .success(let lease)?: item.session = lease.path
      case .failure(let error)?: item.problem = error
      case nil: break
      }
      return item
    }
    return (cases, known.values.compactMap { try? $0.get() })
  }

  /// The sessions that commands named. A command uses them until its process ends.
  private static let named = Locked<[SessionLease]>([])

  /// The folder of a session in the local cache, which stays until this process ends.
  func pulledPath(_ name: String) throws -> String {
    let lease = try pull(name)
    Self.named.withLock { $0.append(lease) }
    return lease.path
  }
}
