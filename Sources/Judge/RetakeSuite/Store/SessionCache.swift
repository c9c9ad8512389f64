import Foundation
import RetakeCore
import RetakeRuntime
import RetakeSession

/// The sessions that were fetched from stores: `.retake/sessions/DIGEST/NAME`. Several processes may
/// use it at once.
///
/// A folder has its name only when the digests of all of its files were checked. Locks on
/// `DIGEST/.lock` keep a session that is in use: shared while it is used, exclusive while it is
/// fetched or removed. That file contains the session's bytes.
struct SessionCache {
  let folder: String
  let bytesMax: Int64
  let isInterrupted: () -> Bool

  private static let lock = ".lock"
  /// Begins the name of a session that is being removed.
  private static let gone = ".gone-"
  private static let lockLook: Int64 = 50_000_000
  /// A session is fetched at most this often, if other processes remove it again.
  private static let roundsMax = 3

  /// A session, after it was fetched if it is not here.
  ///
  /// - Parameter fetch: Called with a session that is missing or was changed, and a folder for its
  ///   objects; files that were fetched before are in it. It leaves each object there, with the
  ///   name of its digest, and checked.
  func lease(
    _ pointer: SessionPointer, fetch: (_ staging: String) throws -> Void
  ) throws -> SessionLease {
    let entry = CachedSession(folder: "\(folder)/\(pointer.digest)", pointer: pointer)
    for _ in 0..<Self.roundsMax {
      try entry.requireFolders()
      let lock = try locked(entry.folder, LOCK_SH)
      if entry.isWhole {
        // The time of the last use.
        futimes(lock.fileDescriptor, nil)
        return SessionLease(path: entry.path, lock: lock)
      }
      flock(lock.fileDescriptor, LOCK_UN)
      let writing = try locked(entry.folder, LOCK_EX)
      defer { try? writing.close() }
      // Another process may have fetched it meanwhile.
      if entry.isWhole { continue }
      try reserve(entry, writing)
      try io(entry.folder) { try entry.stage() }
      try fetch(entry.staging)
      try io(entry.folder) { try entry.assemble() }
    }
    throw SuiteError.notWritable(
      path: entry.folder, cause: "other programs change or remove the session")
  }

  /// The bytes of all sessions, including sessions that are being fetched.
  var bytes: Int64 { entries().reduce(0) { $0 + $1.bytes } }

  // MARK: Size

  private struct Entry {
    var folder: String
    var bytes: Int64
    var used: Int64
  }

  /// The least recently used first.
  private func entries() -> [Entry] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter(StoredObject.isDigest).compactMap { name -> Entry? in
      let file = "\(folder)/\(name)/\(Self.lock)"
      guard let facts = try? RegularFile.facts(of: file),
        let data = try? RegularFile.contents(file, bytesMax: 64)
      else { return nil }
      // Without a number it was made a moment ago, and has no bytes yet.
      return Entry(
        folder: "\(folder)/\(name)", bytes: Int64(String(decoding: data, as: UTF8.self)) ?? 0,
        used: facts.modifiedNanoseconds)
    }.sorted { ($0.used, $0.folder) < ($1.used, $1.folder) }
  }

  /// Removes the least recently used sessions until the new one fits, and notes its size.
  private func reserve(_ session: CachedSession, _ lock: FileHandle) throws {
    let pointer = session.pointer
    // One process at a time, so that two do not count on the same bytes.
    let gate = try locked(folder, LOCK_EX)
    defer { try? gate.close() }
    let ignored = "\(folder)/.gitignore"
    // A link of that name may lead anywhere.
    if !RegularFile.isTaken(ignored) {
      try? Data("*\n".utf8).write(to: URL(fileURLWithPath: ignored))
    }
    sweep()
    var others = entries().filter { $0.folder != session.folder }
    var total = others.reduce(pointer.bytes) { $0 + $1.bytes }
    while total > bytesMax {
      // No removal helps a session that is larger than the cache.
      guard pointer.bytes <= bytesMax, let index = others.firstIndex(where: { remove($0.folder) })
      else {
        throw SuiteError.cacheFull(pointer, limit: bytesMax)
      }
      total -= others.remove(at: index).bytes
    }
    if let free = FreeSpace.freeBytes(at: folder), free < pointer.bytes - session.bytesHere {
      throw SuiteError.noRoom(pointer, disk: FreeSpace.disk(above: folder), free: free)
    }
    try io(session.folder) {
      try lock.truncate(atOffset: 0)
      try lock.write(contentsOf: Data("\(pointer.bytes)".utf8))
    }
  }

  /// Removes the sessions whose removal was not finished: only one process removes at a time, so the
  /// others were killed.
  private func sweep() {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    for name in names where name.hasPrefix(Self.gone) {
      try? FileManager.default.removeItem(atPath: "\(folder)/\(name)")
    }
  }

  /// - Returns: `false` for a session in use.
  private func remove(_ entry: String) -> Bool {
    guard let lock = try? FileHandle(forUpdating: URL(fileURLWithPath: "\(entry)/\(Self.lock)")),
      flock(lock.fileDescriptor, LOCK_EX | LOCK_NB) == 0
    else { return false }
    defer { try? lock.close() }
    // First the name, so that no process finds a part of a session.
    let gone = "\(folder)/\(Self.gone)\(UUID().uuidString)"
    guard rename(entry, gone) == 0 else { return false }
    try? FileManager.default.removeItem(atPath: gone)
    return true
  }

  // MARK: Locks

  /// Waits for a lock on the file `.lock` of a folder, which is made if it does not exist.
  private func locked(_ place: String, _ kind: Int32) throws -> FileHandle {
    let file = "\(place)/\(Self.lock)"
    while true {
      try io(place) {
        try FileManager.default.createDirectory(
          atPath: place, withIntermediateDirectories: true)
      }
      let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o666)
      if descriptor < 0, errno == ENOENT { continue }
      guard descriptor >= 0 else {
        throw SuiteError.notWritable(path: file, cause: POSIXError.last.systemText)
      }
      let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
      while flock(descriptor, kind | LOCK_NB) != 0 {
        let cause = errno
        guard cause == EWOULDBLOCK || cause == EINTR else {
          throw SuiteError.notWritable(
            path: file, cause: POSIXError(number: cause).systemText)
        }
        if isInterrupted() { throw RuntimeError.interrupted }
        WallClock().wait(nanoseconds: Self.lockLook, or: ThreadCondition())
      }
      var (held, named) = (stat(), stat())
      // Another process may have removed the folder before the lock was there.
      if fstat(descriptor, &held) == 0, lstat(file, &named) == 0, held.st_ino == named.st_ino {
        return handle
      }
    }
  }

  private func io(_ path: String, _ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error where !(error is any RetakeError) {
      throw SuiteError.notWritable(path: path, cause: error.systemText)
    }
  }
}
