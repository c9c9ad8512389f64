import Foundation

extension CacheFolder {
  /// Removes the least recently used packs until at most `limit` bytes are left, and the unfinished
  /// files of writers that have ended.
  ///
  /// - Returns: The number of bytes that were removed.
  /// - Throws: `CacheError.notRemoved` if the cache cannot be written, or if a file could not be
  ///   removed. In the second case, all other files have been removed.
  @discardableResult package func prune(to limit: Int) throws -> Int {
    guard access(url.path, W_OK) == 0 else { throw Self.notRemoved(url.path, errno) }
    var removal = Removal()
    var packs: [Pack] = []
    for folder in scopeFolders() {
      for file in leftovers(in: folder) {
        let bytes = file.bytes ?? 0
        _ = file.withUnlocked(LOCK_EX) { removal.remove($0, bytes: bytes) }
      }
      packs += self.packs(in: folder)
    }
    var total = packs.reduce(0) { $0 + $1.bytes }
    // By path as well, so that packs with equal times are removed in the same order everywhere.
    for pack in packs.sorted(by: { ($0.used, $0.url.path) < ($1.used, $1.url.path) })
    where total > limit {
      if removal.remove(pack.url.path, bytes: pack.bytes) { total -= pack.bytes }
    }
    // A run may use the folder at this moment: `rmdir` fails if it has begun a file, and its writer
    // makes the folder again if it is missing.
    for folder in scopeFolders() where isLeft(folder) {
      unlink(folder.appending(path: CacheAbout.name).path)
      rmdir(folder.path)
    }
    if let failure = removal.failure { throw failure }
    return removal.bytes
  }

  private struct Removal {
    var bytes = 0
    /// The first failure.
    var failure: CacheError?

    /// - Returns: Whether the file no longer exists.
    mutating func remove(_ path: String, bytes size: Int) -> Bool {
      if unlink(path) == 0 {
        bytes += size
        return true
      }
      // Another run may prune at the same time. A file that it removed needs no space any more.
      if errno == ENOENT { return true }
      failure = failure ?? CacheFolder.notRemoved(path, errno)
      return false
    }
  }

  private static func notRemoved(_ path: String, _ number: Int32) -> CacheError {
    .notRemoved(path: path, cause: String(cString: strerror(number)))
  }

  /// Checks every record against its checksum, and removes the files that contain a damaged record.
  ///
  /// - Parameter isInterrupted: Called between files.
  package func verify(
    isInterrupted: () -> Bool = { false }, progress: (Int, Int) -> Void = { _, _ in }
  ) -> CacheCheck {
    var check = CacheCheck()
    let packs = scopeFolders().flatMap { self.packs(in: $0) }
    for (done, pack) in packs.enumerated() {
      if isInterrupted() { break }
      progress(done, packs.count)
      switch open(pack) {
      case .whole(let read) where read.damagedCount() == 0: check.records += read.count
      case .foreign: check.foreign.append(pack.url.path)
      // It may be intact, and another user or a later run may read it.
      case .unreadable: check.unreadable.append(pack.url.path)
      // Another run may have removed it.
      case .nothing where !FileManager.default.fileExists(atPath: pack.url.path): break
      case .whole, .damaged, .nothing:
        check.damaged.append(pack.url.path)
        if unlink(pack.url.path) != 0, errno != ENOENT { check.left.append(pack.url.path) }
      }
    }
    return check
  }

  /// Whether the folder contains no packs and no unfinished files.
  private func isLeft(_ folder: URL) -> Bool {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return names.allSatisfy { $0 == CacheAbout.name }
  }
}
