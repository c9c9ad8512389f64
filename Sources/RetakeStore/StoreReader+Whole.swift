import GRDB
import RetakeCore

/// Rows that a promise rests on: each is compared with its checksum as it is read.
extension StoreReader {
  /// - Throws: `StoreError.corrupt` for the first row that is not the one that was written. A row
  ///   of schema 1 has no checksum.
  package func wholeFrames(
    track: Int, sequences: Range<Int>
  ) throws(StoreError) -> [FrameRecord] {
    let rows = try frames(track: track, sequences: sequences)
    let version = Int64(schemaVersion)
    guard version >= Schema.firstVersionWithChecks, !rows.isEmpty else { return rows }
    let width = Schema.frame.columnCount(version: version)
    let stored = try checks(track: track, sequences: sequences)
    for (row, check) in zip(rows, stored) {
      // What was read, as it is stored.
      let values = Array(row.values.prefix(width))
      guard RunningDigest.check(of: RunningDigest.digest(of: values, table: Schema.frame)) == check
      else {
        throw .corrupt(
          path: path,
          cause:
            "the row of frame with track \(row.track), sequence \(row.sequence) is not the one "
            + "that was written")
      }
    }
    return rows
  }

  private func checks(track: Int, sequences: Range<Int>) throws(StoreError) -> [Int64] {
    try read { database in
      let statement = try database.cachedStatement(
        sql: """
          SELECT row_check FROM frame
          WHERE track = ? AND sequence >= ? AND sequence < ? ORDER BY sequence
          """)
      let cursor = try Row.fetchCursor(
        statement, arguments: [track, sequences.lowerBound, sequences.upperBound])
      var checks: [Int64] = []
      while let row = try cursor.next() {
        var reader = RowReader(row, of: Schema.frame)
        checks.append(try reader.int64())
      }
      return checks
    }
  }
}
