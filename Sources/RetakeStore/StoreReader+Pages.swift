import GRDB
import RetakeCore

/// Rows, page by page, in the order of their keys.
extension StoreReader {
  package func segments() throws(StoreError) -> [SegmentRecord] {
    try rows("ORDER BY \"index\"")
  }

  /// Ordered by track, then segment.
  package func segmentTracks() throws(StoreError) -> [SegmentTrackRecord] {
    try rows("ORDER BY track, segment")
  }

  package func files() throws(StoreError) -> [FileRecord] {
    try rows("ORDER BY path")
  }

  package func packets(
    track: Int, indexes: Range<Int>
  ) throws(StoreError) -> [PacketRecord] {
    try rows(
      "WHERE track = ? AND \"index\" >= ? AND \"index\" < ? ORDER BY \"index\"",
      [track, indexes.lowerBound, indexes.upperBound])
  }

  package func frames(
    track: Int, sequences: Range<Int>
  ) throws(StoreError) -> [FrameRecord] {
    try withShown(
      rows(
        "WHERE track = ? AND sequence >= ? AND sequence < ? ORDER BY sequence",
        [track, sequences.lowerBound, sequences.upperBound]))
  }

  package func frame(_ id: FrameID) throws(StoreError) -> FrameRecord? {
    try frames(track: id.track, sequences: id.sequence..<id.sequence + 1).first
  }

  /// The digest of each frame's packet, by sequence; frames without a packet are left out.
  package func packetDigests(
    track: Int, sequences: Range<Int>
  ) throws(StoreError) -> [Int: Digest128] {
    try read { database in
      let cursor = try Row.fetchCursor(
        database,
        sql: """
          SELECT frame.sequence, packet.digest FROM frame
          JOIN packet ON packet.track = frame.track AND packet."index" = frame.packet
          WHERE frame.track = ? AND frame.sequence >= ? AND frame.sequence < ?
          """, arguments: [track, sequences.lowerBound, sequences.upperBound])
      var digests: [Int: Digest128] = [:]
      while let row = try cursor.next() {
        var reader = RowReader(row, of: Schema.packet)
        digests[try reader.count()] = try reader.digest()
      }
      return digests
    }
  }

  package func events(ordinals: Range<Int> = 0..<Int.max) throws(StoreError) -> [EventRecord] {
    try rows(
      "WHERE ordinal >= ? AND ordinal < ? ORDER BY ordinal",
      [ordinals.lowerBound, ordinals.upperBound])
  }

  package func runs() throws(StoreError) -> [RunRecord] { try rows("ORDER BY run") }

  package func nodes(run: Int) throws(StoreError) -> [NodeRecord] {
    try rows("WHERE run = ? ORDER BY node", [run])
  }

  /// Of one node, by track, sequence and item.
  package func spans(run: Int, node: String) throws(StoreError) -> [SpanRecord] {
    try rows(
      "WHERE run = ? AND node = ? ORDER BY track, sequence, item",
      [run, node])
  }

  /// The runs that have spans, rising.
  package func runsWithSpans() throws(StoreError) -> [Int] {
    var result: [Int] = []
    for run in try runs() where try hasSpans(run: run.run) { result.append(run.run) }
    return result
  }

  private func hasSpans(run: Int) throws(StoreError) -> Bool {
    try read { database in
      try Row.fetchOne(database, sql: "SELECT 1 FROM span WHERE run = ? LIMIT 1", arguments: [run])
        != nil
    }
  }

  /// Hands on the spans of a run, one at a time, by node, track, sequence and item, for as long as
  /// `body` returns `true`.
  package func eachSpan(
    run: Int, _ body: (SpanRecord) -> Bool
  ) throws(StoreError) {
    try read { database in
      let cursor = try Row.fetchCursor(
        database,
        sql: SpanRecord.table.selectSQL(version: Int64(schemaVersion))
          + " WHERE run = ? ORDER BY node, track, sequence, item", arguments: [run])
      while let row = try cursor.next() {
        var reader = RowReader(row, of: SpanRecord.table)
        guard body(try SpanRecord(&reader)) else { return }
      }
    }
  }

  package func externalEvents(
    run: Int, ordinals: Range<Int>
  ) throws(StoreError) -> [ExternalEventRecord] {
    try rows(Self.ofRun, [run, ordinals.lowerBound, ordinals.upperBound])
  }

  package func decisions(
    run: Int, ordinals: Range<Int>
  ) throws(StoreError) -> [DecisionRecord] {
    try rows(Self.ofRun, [run, ordinals.lowerBound, ordinals.upperBound])
  }

  package func results(
    run: Int, ordinals: Range<Int>
  ) throws(StoreError) -> [ResultRecord] {
    try rows(Self.ofRun, [run, ordinals.lowerBound, ordinals.upperBound])
  }

  private static let ofRun = "WHERE run = ? AND ordinal >= ? AND ordinal < ? ORDER BY ordinal"

  /// Of the rows that are held in memory at once.
  private static let pageBytesMax = 512 << 20

  func rows<Record: StoredRow>(
    _ clause: String, _ arguments: StatementArguments = []
  ) throws(StoreError) -> [Record] {
    try read { database in
      let statement = try database.cachedStatement(
        sql: Record.table.selectSQL(version: Int64(schemaVersion)) + " " + clause)
      let cursor = try Row.fetchCursor(statement, arguments: arguments)
      var records: [Record] = []
      var bytes = 0
      while let row = try cursor.next() {
        var reader = RowReader(row, of: Record.table)
        bytes += reader.byteCount
        guard records.count < rowCountMax, bytes <= Self.pageBytesMax else {
          throw RowDamage(table: Record.table.name, column: "rows")
        }
        records.append(try Record(&reader))
      }
      return records
    }
  }
}
