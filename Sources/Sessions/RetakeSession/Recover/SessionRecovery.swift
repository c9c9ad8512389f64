import Foundation
package import RetakeCore
import RetakeStore

/// The result of a recovery.
package struct RecoveryResult: Hashable, Sendable, Codable {
  package var path: String
  /// False when the session was intact already, and the recovery did not write.
  package var wasOpen: Bool
  package var status: SessionStatus
  package var frames: Int
  /// Number of frames whose media differs from the committed media; their rows record that.
  package var damagedFrames: Int
  /// Number of frames whose rows were rebuilt from the media.
  package var rebuiltFrames: Int
  /// Bytes of media after the last commit. They stay in the file and belong to no frame.
  package var tailBytes: Int64
  /// The known losses, and media files that are missing or have another size.
  package var losses: String?
  /// Data that may be missing, where the evidence does not decide it.
  package var notes: [String] = []
  package var sessionDigest: Digest128
}

/// Closes a session that a crashed recorder left open, or rebuilds its database.
///
/// Everything up to the last commit is kept, and every complete packet after it gets a row. The
/// database changes in one SQLite transaction or in one rename, so an interrupted recovery can be
/// run again, with the same result. Success is reported only after the result was opened and
/// checked.
package struct SessionRecovery: Sendable {
  let folder: SessionFolder
  let report: @Sendable (SessionCheck.Progress) -> Bool
  let usesMedia: Bool

  /// - Parameters:
  ///   - fromMedia: Also rebuild a database that is missing or damaged from the media.
  ///   - report: Called with the progress in packets; returning false stops the recovery before it
  ///     writes.
  package init(
    _ path: String, fromMedia: Bool = false,
    report: @escaping @Sendable (SessionCheck.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    usesMedia = fromMedia
    self.report = report
  }

  /// - Throws: `SessionError`: not a session, a recorder that is still running, a damaged database.
  package func run() throws -> RecoveryResult {
    // Even if the session is intact.
    SessionBuilder.sweep(for: folder)
    return usesMedia ? try recoverFromMedia() : try recover()
  }

  private func recover() throws -> RecoveryResult {
    let exchange = DatabaseExchange(folder: folder)
    // Before the lock is taken, which would make a file in a folder that is not a session.
    if !exchange.isPending { _ = try SessionReader.open(folder) }
    let lock = try RecorderLock(taking: folder.lock)
    defer { lock.remove(folder.lock) }
    if let result = try completed(exchange) { return result }
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    guard !reader.index.store.isClosed, hasTail(reader) else { return try closed(reader) }
    // Before anything is written: damaged rows are for `--from-media`.
    try SessionClosing.check(reader.index.store, at: folder.database)
    return try withTail(reader, exchange)
  }

  /// Whether the media has bytes that no row describes: a crash comes between the two.
  private func hasTail(_ reader: SessionReader) -> Bool {
    folder.mediaOnDisk.contains { name in
      guard let path = try? folder.file(name), let bytes = SessionBuilder.byteCount(path) else {
        return false
      }
      return bytes > reader.index.mediaSizes[name]?.bytes ?? 0
    }
  }

  /// Closes a database whose rows are intact. The caller holds the lock.
  func closed(_ reader: SessionReader, rebuilt: Int = 0) throws -> RecoveryResult {
    let before = Expectation(reader: reader)
    let (isClosed, hasJournal) = (reader.index.store.isClosed, reader.index.store.hasJournal)
    var tail: Int64 = 0
    if !isClosed {
      // Before anything is written: damaged rows are for `--from-media`.
      try SessionClosing.check(reader.index.store, at: folder.database)
      tail = try close(reader, rebuilt: rebuilt)
    } else if hasJournal {
      // The recorder died after its last commit, before it merged the log into the database.
      try StoreWriter(continuing: folder.database).close()
    }
    return try reopened(before, wasOpen: !isClosed || hasJournal, tail: tail, rebuilt: rebuilt)
  }

  /// Closes the session that the crash left open; returns the bytes of the tail.
  private func close(_ reader: SessionReader, rebuilt: Int) throws -> Int64 {
    let closing = SessionClosing(folder: folder, report: report)
    return try closing.close(reader) { findings in
      SessionClosing.Account(
        wasCut: true, losses: [Self.losses(findings, rebuilt: rebuilt)],
        event: try event(reader, findings, rebuilt: rebuilt))
    }.tailBytes
  }

  private static func losses(_ findings: SessionClosing.Findings, rebuilt: Int) -> String {
    var text = "the recording was never closed"
    if findings.tailBytes > 0 {
      let bytes = counted(findings.tailBytes, "byte")
      text += "; \(bytes) after its last commit are not used"
    } else if rebuilt == 0 {
      text += "; nothing came after its last commit"
    }
    if rebuilt > 0 {
      let frames = counted(rebuilt, "frame after it was", "frames after it were")
      text += "; \(frames) found in the media, with times to a millisecond"
    }
    if findings.damagedFrames > 0 {
      let frames =
        counted(findings.damagedFrames, "frame has", "frames have")
      text += "; \(frames) damaged media"
    }
    return text
  }

  private func event(
    _ reader: SessionReader, _ findings: SessionClosing.Findings, rebuilt: Int
  ) throws -> EventRecord {
    let store = reader.index.store
    var time: Int64 = 0
    for track in reader.index.tracks {
      let last = try store.counts(track: track).frameEnd - 1
      time = max(
        time, try store.frame(FrameID(track: track, sequence: last))?.arrivalNanoseconds ?? 0)
    }
    var members: [String: JSONValue] = [
      "tailBytes": .integer(findings.tailBytes),
      "damagedFrames": .integer(Int64(findings.damagedFrames)),
    ]
    if rebuilt > 0 { members["rebuiltFrames"] = .integer(Int64(rebuilt)) }
    return EventRecord(
      ordinal: (try store.events().last?.ordinal ?? -1) + 1, timeNanoseconds: time,
      source: "recover", kind: "recording.cut",
      json: JSONValue.object(members).canonicalText)
  }

  /// The contents of a session, for comparing before and after.
  struct Expectation: Equatable {
    var frames: [Int]

    init(reader: SessionReader) {
      frames = reader.tracks.map(\.frameCount)
    }
  }

  func reopened(
    _ before: Expectation, wasOpen: Bool, tail: Int64, rebuilt: Int
  ) throws -> RecoveryResult {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let store = reader.index.store
    guard store.isClosed, !store.hasJournal else {
      throw SessionError.recoveryFailed(path: folder.path, cause: "the database is still open")
    }
    guard Expectation(reader: reader) == before else {
      throw SessionError.recoveryFailed(path: folder.path, cause: "it has other frames than before")
    }
    do {
      try SessionClosing.check(store, at: folder.database)
    } catch let error as StoreError {
      throw SessionError.recoveryFailed(path: folder.path, cause: error.cause ?? error.message)
    }
    let counts = try reader.index.tracks.map { try store.counts(track: $0) }
    let faults = reader.mediaFaults()
    return RecoveryResult(
      path: folder.path, wasOpen: wasOpen, status: try store.status(in: folder, faults: faults),
      frames: before.frames.reduce(0, +),
      // A frame that was shed has a cause, too, and is not damaged.
      damagedFrames: counts.reduce(0) { $0 + $1.damaged - $1.shed }, rebuiltFrames: rebuilt,
      tailBytes: tail, losses: try reader.losses(faults), sessionDigest: try store.digest())
  }
}
