import Foundation
import RetakeCore
import RetakeStore

extension SessionRecovery {
  /// Rebuilds missing rows, or the complete database, from the media.
  ///
  /// The new database is built and checked in a hidden folder, and moved into the session under a
  /// temporary name. It then replaces the old database, which is kept as `session.sqlite.damaged`,
  /// or with a number at the end of this name if an earlier recovery has kept one.
  func recoverFromMedia() throws -> RecoveryResult {
    guard FileManager.default.fileExists(atPath: folder.path) else {
      throw SessionError.notSession(path: folder.path, cause: "there is no such folder")
    }
    try folder.requireReadable()
    guard !folder.mediaOnDisk.isEmpty else {
      if folder.hasJoinedMedia {
        // An intact index needs no rows from the media.
        guard case .whole(let reader) = try condition() else {
          throw SessionError.joinedIndex(path: folder.path)
        }
        return try closed(reader)
      }
      guard FileManager.default.fileExists(atPath: folder.database) else {
        throw SessionError.notSession(path: folder.path, cause: "it has neither media nor an index")
      }
      throw SessionError.noMedia(path: folder.path)
    }
    // Until the end, so that no recorder begins in a folder whose database is replaced.
    let lock = try RecorderLock(taking: folder.lock)
    defer { lock.remove(folder.lock) }
    let exchange = DatabaseExchange(folder: folder)
    if let result = try completed(exchange) { return result }
    switch try condition() {
    // A session without a frame whose media has frames: earlier versions left such a session if the
    // recorder was killed before its first commit.
    case .whole(let reader) where reader.tracks.isEmpty: return try withTail(reader, exchange)
    case .whole(let reader):
      let result = try closed(reader)
      // Nothing was made from the media, and the media is not what the index describes.
      if !result.wasOpen, let fault = reader.mediaFaults().first {
        throw fault.error(at: try folder.file(fault.file))
      }
      return result
    case .open(let reader): return try withTail(reader, exchange)
    case .damaged(let store):
      // The import may have selected tracks. If they cannot be read, all tracks are rebuilt.
      return try rebuild(store, parts: try? store?.segmentTracks(), exchange)
    }
  }

  private enum Condition {
    /// The database is complete, except for rows that plain recovery can add.
    case whole(SessionReader)
    /// The rows are intact; there is media after the last commit.
    case open(SessionReader)
    /// The rows are damaged. The value is the part that can still be opened, if any.
    case damaged(StoreReader?)
  }

  private func condition() throws -> Condition {
    let reader: SessionReader
    do {
      reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
      try SessionClosing.check(reader.index.store, at: folder.database)
    } catch let error as any RetakeError {
      // A newer schema is not damage: rebuilding would lose data that this version does not know.
      if error.isNewerSchema { throw error }
      return .damaged(try? StoreReader(opening: folder.database))
    }
    return reader.index.store.isClosed ? .whole(reader) : .open(reader)
  }

  /// The result of an earlier recovery that was killed after it had built and checked the database;
  /// nil if no such recovery is pending.
  func completed(_ exchange: DatabaseExchange) throws -> RecoveryResult? {
    guard exchange.isPending else { return nil }
    try exchange.finish()
    return try rebuiltResult(frames: nil)
  }

  /// Adds rows for the packets that have no row. The caller holds the lock.
  func withTail(
    _ reader: SessionReader, _ exchange: DatabaseExchange
  ) throws -> RecoveryResult {
    guard reader.tracks.isEmpty else { return try extend(reader, exchange) }
    // Rows without a track have no clock and no shape to continue from.
    do {
      return try rebuild(reader.index.store, parts: nil, exchange)
    } catch SessionError.noFrames {
      return try closed(reader)
    }
  }

  private func extend(
    _ reader: SessionReader, _ exchange: DatabaseExchange
  ) throws -> RecoveryResult {
    // Now, and not only after the work.
    try exchange.requireUnlocked()
    let site = try SessionBuilder(for: folder)
    // Also after success: only the database is moved out, and the media here is a link.
    defer { site.discard() }
    try site.borrowMedia()
    // A copy, so that a kill while rows are added leaves the session as it is.
    try StoreReader.copy(folder.database, to: site.folder.database)
    let rebuilt = try TailRows(site: site.folder, report: report).append()
    // The bytes after the last commit are not a packet, so the database itself can be closed.
    guard rebuilt > 0 else { return try closed(reader) }
    let inner = SessionRecovery(site.folder.path, report: report)
    _ = try inner.closed(
      try SessionReader(site.folder, options: ReadOptions(framesPerChain: nil)), rebuilt: rebuilt)
    try exchange.take(site.folder.database)
    let old = try exchange.finish()
    // The new database has every row of the old one, which only a repair keeps.
    if !usesMedia { exchange.remove(old) }
    return try rebuiltResult(frames: rebuilt)
  }

  private func rebuild(
    _ store: StoreReader?, parts: [SegmentTrackRecord]?, _ exchange: DatabaseExchange
  ) throws -> RecoveryResult {
    try exchange.requireUnlocked()
    let site = try SessionBuilder(for: folder)
    defer { site.discard() }
    try site.borrowMedia()
    let salvage = store?.salvage() ?? .init()
    let rebuild = MediaRebuild(
      site: site.folder, salvage: salvage, parts: parts, report: report)
    let isMissing = !FileManager.default.fileExists(atPath: folder.database)
    let outcome = try rebuild.run()
    let reader = try SessionReader(site.folder, options: ReadOptions(framesPerChain: nil))
    try SessionClosing.check(reader.index.store, at: site.folder.database)
    try exchange.take(site.folder.database)
    try exchange.finish()
    var result = try rebuiltResult(frames: outcome.frames)
    result.notes += outcome.notes
    guard !salvage.areSensorsCounted else { return result }
    result.notes.append(
      (isMissing ? "there was no index" : "the old index cannot be read") + Self.goneFacts)
    let isRecorded = try reader.index.store.meta("kind") == "recorded"
    if isRecorded, parts == nil, !reader.tracks.contains(where: { $0.rotationDegrees != 0 }) {
      result.notes.append(Self.goneRotation)
    }
    return result
  }

  private static let goneFacts =
    ", so the session's note, the name of its source, times of the frames that it had from a file "
    + "(--times) and sensors that it had from elsewhere than the video (--sensor, topics of a bag, "
    + "a program) are not in the new one; write the note, and import times and sensors again with "
    + "the video"
  private static let goneRotation =
    "the rotation of the images is not in the media: if the source turned them, they are now shown "
    + "as they are stored, and stages see them unturned; record again where that matters"

  /// - Parameter frames: Number of frames rebuilt from the media; nil when an earlier recovery did
  ///   it.
  private func rebuiltResult(frames: Int?) throws -> RecoveryResult {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    return try reopened(
      Expectation(reader: reader), wasOpen: true, tail: 0, rebuilt: frames ?? 0)
  }
}

/// Replaces a database by a new one. A kill at any moment leaves the old one, the new one, or a
/// state that the next recovery completes.
struct DatabaseExchange {
  let folder: SessionFolder

  private var ready: String { folder.database + ".recovered" }

  /// Whether a checked database waits to replace the old one.
  var isPending: Bool { FileManager.default.fileExists(atPath: ready) }

  /// Changes that another process makes to the old database would be lost with it.
  ///
  /// - Throws: `StoreError.busy` while another process has locked it.
  func requireUnlocked() throws { try StoreWriter.requireUnlocked(folder.database) }

  /// Moves a finished database into the folder.
  func take(_ database: String) throws {
    try requireUnlocked()
    // From here on the exchange is pending, and the next recovery completes it.
    try move(database, to: ready)
    try synchronize()
  }

  /// - Returns: the path of the old database, for `remove`.
  @discardableResult
  func finish() throws -> String {
    try requireUnlocked()
    let old = nameForOld()
    // SQLite would apply a log next to a different database to that database.
    for suffix in Self.journalSuffixes where isThere(folder.database + suffix) {
      try move(folder.database + suffix, to: old + suffix)
    }
    // If this is done already, an earlier recovery was killed after this step.
    if isThere(folder.database) { try move(folder.database, to: old) }
    // Last, because only this name makes `isPending` false again.
    try move(ready, to: folder.database)
    try synchronize()
    return old
  }

  /// Removes an old database and its journals.
  func remove(_ old: String) {
    for suffix in [""] + Self.journalSuffixes {
      try? FileManager.default.removeItem(atPath: old + suffix)
    }
  }

  private static let journalSuffixes = ["-wal", "-journal", "-shm"]
  /// Upper bound of the old databases that are kept. Beyond it, the newest replaces the previous
  /// newest: only the oldest has recorded rows that were not made again from the media.
  private static let oldCountMax = 100

  /// The first name that no old database of an earlier recovery has.
  ///
  /// After a kill, it is the name to which that recovery may already have moved the journals.
  private func nameForOld() -> String {
    let names = (1...Self.oldCountMax).map {
      folder.database + ".damaged" + ($0 == 1 ? "" : "-\($0)")
    }
    let free = names.first { name in
      !isThere(name)
        && !Self.journalSuffixes.contains { isThere(folder.database + $0) && isThere(name + $0) }
    }
    return free ?? folder.database + ".damaged-\(Self.oldCountMax)"
  }

  private func isThere(_ path: String) -> Bool { FileManager.default.fileExists(atPath: path) }

  private func move(_ path: String, to target: String) throws {
    guard rename(path, target) == 0 else {
      throw SessionError.write(target, POSIXError.last)
    }
  }

  private func synchronize() throws {
    do {
      if isPending { try SessionBuilder.synchronize(ready) }
      try SessionBuilder.synchronize(folder.path)
    } catch {
      throw SessionError.write(folder.path, error)
    }
  }
}
