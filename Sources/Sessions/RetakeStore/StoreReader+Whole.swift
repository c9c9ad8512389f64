import Foundation
import GRDB
import RetakeCore

/// The result of checking all rows together, computed on first use.
final class Wholeness: @unchecked Sendable {
  // SAFETY: @unchecked because of the mutable state, guarded by `lock`.
  private let lock = NSLock()
  private var outcome: Result<Void, any Error>?

  /// Whether all rows are proven equal to the rows of the last commit.
  var isProven: Bool { lock.withLock { if case .success = outcome { true } else { false } } }

  /// - Parameter check: Runs once, unless its result is inconclusive; other threads wait for it.
  func require(_ check: () throws -> Void) throws {
    let outcome = lock.withLock {
      if let known = self.outcome { return known }
      let found = Result { try check() }
      switch found {
      // Only an answer about the rows is kept. A lack of memory may be over at the next call.
      case .success, .failure(StoreError.corrupt): self.outcome = found
      case .failure: break
      }
      return found
    }
    try outcome.get()
  }
}

extension StoreReader {
  /// Reads every row once, and compares all of them with the digest of the last commit. Missing,
  /// added or altered rows are reported before any row is used.
  ///
  /// - Throws: `StoreError.corrupt`, with the table and the first such row if it can be determined.
  ///   Later calls throw the same error.
  package func requireWhole() throws {
    try wholeness.require {
      guard let cause = try read({ try unwritten(in: $0) }) else { return }
      throw StoreError.corrupt(path: path, cause: cause)
    }
  }

  /// The first problem of the rows; nil if they equal the rows that were written.
  private func unwritten(in database: Database) throws -> String? {
    var scan = RowScan(version: Int64(schemaVersion), rowCountMax: rowCountMax)
    for table in Schema.tables(version: Int64(schemaVersion)) {
      scan.run(table, in: database)
      // A lack of memory, or a failing disk.
      if let failure = scan.failure { throw failure }
      // The session is refused in any case; the check lists the rest.
      if scan.isHopeless { break }
    }
    let stored = try? Self.lastCommit(in: database)
    // A row whose checksum alone is damaged equals the written row, and may be used.
    let complaints = scan.complaints(stored: stored).filter { $0.kind != .check }
    guard let first = complaints.first else { return nil }
    // From schema 2 on, every remaining row equals its checksum here: rows are missing or were
    // added.
    guard first.kind == .digest, let stored else { return first.text }
    if let gap = scan.gap { return gap }
    // If exactly one row was added, the excess of the sum is the digest of that row.
    var surplus = scan.running
    surplus.subtract(stored.digest)
    return try added(surplus.value, in: database) ?? lastMissing(in: database)
      ?? "rows are missing or were added: \(first.text)"
  }

  /// The single row whose digest equals the excess over the stored digest.
  private func added(_ digest: Digest128, in database: Database) throws -> String? {
    let version = Int64(schemaVersion)
    for table in Schema.tables(version: version) {
      let count = table.columnCount(version: version)
      let walk = try RowWalk(table.selectStoredSQL(version: version), in: database)
      while try walk.next() {
        guard walk.digest(table: table, columns: count) == digest else { continue }
        return "the row of \(table.name) with \(table.key(of: walk.values)) was added"
      }
    }
    return nil
  }

  /// The missing last row of a track's packets or frames, if the other table has more rows.
  private func lastMissing(in database: Database) throws -> String? {
    // A missing last row leaves no gap in the numbers. Only the other table shows that it existed.
    let walk = try RowWalk(
      """
      SELECT track, max("index"), (
        SELECT max(packet) FROM frame WHERE frame.track = packet.track
      ), (
        SELECT coalesce(max(sequence) + 1, 0) FROM frame WHERE frame.track = packet.track
      ) FROM packet WHERE size > 0 GROUP BY track
      """, in: database)
    while try walk.next() {
      guard let track = walk.int64(0), let packet = walk.int64(1) else { continue }
      let shown = walk.int64(2) ?? -1
      if shown > packet { return PacketRecord.table.missing(group: track, number: packet &+ 1) }
      if shown < packet {
        return FrameRecord.table.missing(group: track, number: walk.int64(3) ?? 0)
      }
    }
    return nil
  }
}

/// Rows that correctness depends on: each is compared with its checksum when it is read.
extension StoreReader {
  /// - Throws: `StoreError.corrupt` for the first row that differs from the row that was written. A
  ///   row of schema 1 has no checksum.
  package func wholeFrames(
    track: Int, sequences: Range<Int>
  ) throws -> [FrameRecord] {
    let rows = try frames(track: track, sequences: sequences)
    let version = Int64(schemaVersion)
    // The file is immutable or a private copy, so rows that were compared once need no second look.
    guard version >= Schema.firstVersionWithChecks, !rows.isEmpty, !wholeness.isProven else {
      return rows
    }
    let width = FrameRecord.table.columnCount(version: version)
    let stored = try checks(track: track, sequences: sequences)
    // Both lists are in the order of sequences, of one range and of a file that does not change.
    for (row, check) in zip(rows, stored) {
      // The values that were read, in their stored form.
      let values = Array(row.values.prefix(width))
      guard
        RunningDigest.check(of: RunningDigest.digest(of: values, table: FrameRecord.table)) == check
      else {
        throw StoreError.corrupt(
          path: path,
          cause:
            "the row of frame with track \(row.track), sequence \(row.sequence) differs from the "
            + "written row")
      }
    }
    return rows
  }

  private func checks(track: Int, sequences: Range<Int>) throws -> [Int64] {
    try read { database in
      let walk = try RowWalk(
        """
        SELECT row_check FROM frame
        WHERE track = ? AND sequence >= ? AND sequence < ? ORDER BY sequence
        """, [track, sequences.lowerBound, sequences.upperBound], in: database,
        keepsStatement: true)
      var checks: [Int64] = []
      while try walk.next() {
        var reader = RowReader(walk, of: FrameRecord.table)
        checks.append(try reader.int64())
      }
      return checks
    }
  }
}
