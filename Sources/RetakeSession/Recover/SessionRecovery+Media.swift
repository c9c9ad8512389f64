import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore

extension SessionRecovery {
  /// Makes what the database lacks, or all of it, from the media.
  ///
  /// The new database is built and checked in a hidden folder, comes into the session under a name of
  /// its own, and then takes the old one's place, which stays as `session.sqlite.damaged`.
  func recoverFromMedia() throws(SessionError) -> RecoveryResult {
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw .notSession(path: folder.path, cause: "there is no such folder")
    }
    guard !folder.mediaOnDisk.isEmpty else {
      throw .notSession(path: folder.path, cause: "it has no media to make an index of")
    }
    let lock = try RecorderLock(taking: folder.lock)
    defer { lock.remove(folder.lock) }
    let exchange = DatabaseExchange(folder: folder)
    if exchange.isPending {
      // Killed before, with everything made and checked.
      try exchange.finish()
      return try rebuiltResult(frames: nil)
    }
    switch try condition() {
    case .whole(let reader): return try closed(reader)
    case .open(let reader) where !reader.tracks.isEmpty: return try extend(reader, exchange)
    case .open(let reader): return try rebuild(reader.index.store, tracks: nil, exchange)
    case .damaged(let store):
      let tracks = try? store?.segmentTracks().map(\.track)
      return try rebuild(store, tracks: tracks.map { Set($0).sorted() }, exchange)
    }
  }

  private enum Condition {
    /// Nothing is missing, or nothing that plain recovery does not do.
    case whole(SessionReader)
    /// The rows are whole; media lies behind the last commit.
    case open(SessionReader)
    /// What can still be opened of it, if anything.
    case damaged(StoreReader?)
  }

  private func condition() throws(SessionError) -> Condition {
    let reader: SessionReader
    do throws(SessionError) {
      reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
      try SessionClosing.check(reader.index.store, at: folder.database)
    } catch {
      if error.isNewerSchema { throw error }
      return .damaged(try? StoreReader(opening: folder.database))
    }
    return reader.index.store.isClosed ? .whole(reader) : .open(reader)
  }

  private func extend(
    _ reader: SessionReader, _ exchange: DatabaseExchange
  ) throws(SessionError) -> RecoveryResult {
    let site = try BuildSite(for: folder)
    defer { site.discard() }
    try site.borrowMedia()
    try fromStore { () throws(StoreError) in
      try StoreReader.copy(folder.database, to: site.folder.database)
    }
    let rebuilt = try TailRows(site: site.folder, report: report).append()
    let inner = SessionRecovery(site.folder.path, report: report)
    _ = try inner.closed(
      try SessionReader(site.folder, options: ReadOptions(framesPerChain: nil)), rebuilt: rebuilt)
    try exchange.take(site.folder.database)
    try exchange.finish()
    return try rebuiltResult(frames: rebuilt)
  }

  private func rebuild(
    _ store: StoreReader?, tracks: [Int]?, _ exchange: DatabaseExchange
  ) throws(SessionError) -> RecoveryResult {
    let site = try BuildSite(for: folder)
    defer { site.discard() }
    try site.borrowMedia()
    let rebuild = MediaRebuild(
      site: site.folder, salvage: store?.salvage() ?? .init(), tracks: tracks, report: report)
    let outcome = try rebuild.run()
    let reader = try SessionReader(site.folder, options: ReadOptions(framesPerChain: nil))
    try SessionClosing.check(reader.index.store, at: site.folder.database)
    try exchange.take(site.folder.database)
    try exchange.finish()
    return try rebuiltResult(frames: outcome.frames)
  }

  /// - Parameter frames: Made from the media; nil when an earlier recovery did it.
  private func rebuiltResult(frames: Int?) throws(SessionError) -> RecoveryResult {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    return try reopened(
      Expectation(reader: reader), wasOpen: true, tail: 0, rebuilt: frames ?? 0)
  }
}

/// Puts a new database in the place of an old one, so that a kill at any moment leaves either the
/// one or the other, or what the next recovery finishes.
struct DatabaseExchange {
  let folder: SessionFolder

  private var ready: String { folder.database + ".recovered" }
  private var old: String { folder.database + ".damaged" }

  /// A checked database waits to take the old one's place.
  var isPending: Bool { FileManager.default.fileExists(atPath: ready) }

  /// Brings a finished database into the folder.
  func take(_ database: String) throws(SessionError) {
    try move(database, to: ready)
    try synchronise()
  }

  func finish() throws(SessionError) {
    // A log beside another database would be taken for its own.
    for suffix in ["-wal", "-journal", "-shm"]
    where FileManager.default.fileExists(atPath: folder.database + suffix) {
      try move(folder.database + suffix, to: old + suffix)
    }
    if FileManager.default.fileExists(atPath: folder.database) {
      try move(folder.database, to: old)
    }
    try move(ready, to: folder.database)
    try synchronise()
  }

  private func move(_ path: String, to target: String) throws(SessionError) {
    guard rename(path, target) == 0 else {
      throw .write(path: target, cause: String(cString: strerror(errno)))
    }
  }

  private func synchronise() throws(SessionError) {
    do {
      if isPending { try BuildSite.synchronise(ready) }
      try BuildSite.synchronise(folder.path)
    } catch {
      throw .write(path: folder.path, cause: error.systemText)
    }
  }
}
