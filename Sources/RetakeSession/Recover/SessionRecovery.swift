import Foundation
import RetakeCore
import RetakeMedia
import RetakeRuntime
import RetakeStore

/// What a recovery did.
public struct RecoveryResult: Hashable, Sendable, Codable {
  public var path: String
  /// False when the session was whole already, and nothing was written.
  public var wasOpen: Bool
  public var status: SessionStatus
  public var frames: Int
  /// Frames whose media is not what was committed; their rows say so.
  public var damagedFrames: Int
  /// Bytes of media behind the last commit. They stay in the file and belong to no frame.
  public var tailBytes: Int64
  public var sessionDigest: Digest128
}

/// Closes a session that a recorder left open when it died.
///
/// Everything up to the last commit is kept, what is behind it is said. The database changes in one
/// transaction of SQLite's own, so a recovery that is cut short is simply done again, with the same
/// result. Says success only after it opened its own result.
public struct SessionRecovery: Sendable {
  private let folder: SessionFolder
  private let report: @Sendable (SessionDoctor.Progress) -> Bool

  /// - Parameter report: Told how far it is, in packets; answering false stops it, with nothing
  ///   written.
  public init(
    _ path: String, report: @escaping @Sendable (SessionDoctor.Progress) -> Bool = { _ in true }
  ) {
    folder = SessionFolder(path: path)
    self.report = report
  }

  /// - Throws: `SessionError`: no session, a recorder that is still at work, a damaged database.
  public func run() throws -> RecoveryResult { try recover() }

  private func recover() throws(SessionError) -> RecoveryResult {
    _ = try SessionReader.open(folder)
    let lock = try RecorderLock(taking: folder.lock)
    defer { lock.remove(folder.lock) }
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let before = Expectation(reader: reader)
    let (isClosed, hasJournal) = (reader.index.store.isClosed, reader.index.store.hasJournal)
    var tail: Int64 = 0
    if !isClosed {
      try checkDatabase(reader)
      tail = try close(reader)
    } else if hasJournal {
      // It died between its last commit and making one file of the database.
      _ = try fromStore { () throws(StoreError) in
        try StoreWriter(continuing: folder.database).close()
      }
    }
    return try reopened(before, wasOpen: !isClosed || hasJournal, tail: tail)
  }

  private func checkDatabase(_ reader: SessionReader) throws(SessionError) {
    let complaints = try fromStore { () throws(StoreError) in
      try reader.index.store.checkStructure() + reader.index.store.checkDigest()
    }
    guard let first = complaints.first else { return }
    throw SessionError(StoreError.corrupt(path: folder.database, cause: first.text))
  }

  /// Writes what the crash left open; returns the bytes of the tail.
  private func close(_ reader: SessionReader) throws(SessionError) -> Int64 {
    var rows = try DamagedPackets(reader: reader, report: report).frames()
    let damaged = rows.count
    for track in reader.index.tracks {
      let known = Set(rows.map { FrameID(track: $0.track, sequence: $0.sequence) })
      rows += try MissingPixels(reader).find(track: track).filter {
        !known.contains(FrameID(track: $0.track, sequence: $0.sequence))
      }
    }
    let tail = tailBytes(reader)
    let event = try self.event(reader, tail: tail, damaged: damaged)
    try fromStore { () throws(StoreError) in
      let writer = try StoreWriter(continuing: folder.database)
      writer.replace(rows)
      writer.append([event])
      let status: SessionStatus = damaged > 0 ? .lossy : .recovered
      writer.setMeta("status", status.rawValue)
      writer.setMeta("losses", Self.losses(tail: tail, damaged: damaged))
      try writer.close()
    }
    return tail
  }

  private static func losses(tail: Int64, damaged: Int) -> String {
    let text = "the recording was never closed; \(tail) bytes behind its last commit are not used"
    return damaged == 0 ? text : text + "; \(damaged) frames have damaged media"
  }

  private func event(
    _ reader: SessionReader, tail: Int64, damaged: Int
  ) throws(SessionError) -> EventRecord {
    try fromStore { () throws(StoreError) in
      let store = reader.index.store
      var time: Int64 = 0
      for track in reader.index.tracks {
        let last = try store.counts(track: track).frames - 1
        time = max(
          time,
          try store.frame(FrameID(track: track, sequence: last))?.arrivalNanoseconds ?? 0)
      }
      let json = JSONValue.object([
        "tailBytes": .integer(tail), "damagedFrames": .integer(Int64(damaged)),
      ])
      return EventRecord(
        ordinal: (try store.events().last?.ordinal ?? -1) + 1, timeNanoseconds: time,
        source: "recover", kind: "recording.cut", json: json.canonicalText)
    }
  }

  private func tailBytes(_ reader: SessionReader) -> Int64 {
    reader.index.segments.values.filter { !$0.isClosed }.reduce(0) { total, segment in
      guard let file = try? reader.index.file(segment.file) else { return total }
      return total + max(0, file.size - segment.bytes)
    }
  }

  /// What a session holds, before and after.
  private struct Expectation: Equatable {
    var frames: [Int]

    init(reader: SessionReader) {
      frames = reader.tracks.map(\.frameCount)
    }
  }

  private func reopened(
    _ before: Expectation, wasOpen: Bool, tail: Int64
  ) throws(SessionError) -> RecoveryResult {
    let reader = try SessionReader(folder, options: ReadOptions(framesPerChain: nil))
    let store = reader.index.store
    guard store.isClosed, !store.hasJournal else {
      throw .recoveryFailed(path: folder.path, cause: "the database is still open")
    }
    guard Expectation(reader: reader) == before else {
      throw .recoveryFailed(path: folder.path, cause: "it has other frames than before")
    }
    let complaints = try fromStore { () throws(StoreError) in
      try store.checkStructure() + store.checkReferences() + store.checkDigest()
    }
    if let first = complaints.first {
      throw .recoveryFailed(path: folder.path, cause: first.text)
    }
    let (digest, damaged) = try fromStore { () throws(StoreError) in
      let counts = try reader.index.tracks.map { track throws(StoreError) in
        try store.counts(track: track)
      }
      return (try store.digest(), counts.reduce(0) { $0 + $1.damaged - $1.shed })
    }
    return RecoveryResult(
      path: folder.path, wasOpen: wasOpen, status: try reader.sessionStatus(),
      frames: before.frames.reduce(0, +), damagedFrames: damaged, tailBytes: tail,
      sessionDigest: digest)
  }
}
