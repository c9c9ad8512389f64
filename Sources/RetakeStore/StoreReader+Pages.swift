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
    try rows(
      "WHERE track = ? AND sequence >= ? AND sequence < ? ORDER BY sequence",
      [track, sequences.lowerBound, sequences.upperBound])
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

  /// The last key packet at or before a packet; the track's first packet where there is none.
  package func keyPacket(track: Int, atOrBefore index: Int) throws(StoreError) -> Int {
    try read { database in
      let key = try DatabaseValue.fetchOne(
        database,
        sql: """
          SELECT "index" FROM packet WHERE track = ? AND "index" <= ? AND (flags & 1) = 1
          ORDER BY "index" DESC LIMIT 1
          """, arguments: [track, index])
      return key.flatMap { Int.fromDatabaseValue($0) } ?? 0
    }
  }

  /// Of the first frame that a packet gives. Looks through the whole track.
  package func firstSequence(track: Int, packet: Int) throws(StoreError) -> Int? {
    try read { database in
      let sequence = try DatabaseValue.fetchOne(
        database, sql: "SELECT min(sequence) FROM frame WHERE track = ? AND packet = ?",
        arguments: [track, packet])
      return sequence.flatMap { Int.fromDatabaseValue($0) }
    }
  }

  /// Frames at which decoding begins with the frame itself, rising.
  package func entrySequences(track: Int) throws(StoreError) -> [Int] {
    try read { database in
      let cursor = try Row.fetchCursor(
        database,
        sql: """
          SELECT sequence FROM frame
          WHERE track = ? AND entry = packet AND cause IS NULL ORDER BY sequence
          """, arguments: [track])
      var sequences: [Int] = []
      while let row = try cursor.next() {
        var reader = RowReader(row, of: Schema.frame)
        sequences.append(try reader.count())
      }
      return sequences
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
        sql: SpanRecord.table.selectSQL
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

  /// What a track holds, counted without reading it all.
  package struct TrackCounts: Hashable, Sendable {
    package var packets: Int
    package var packetBytes: Int64
    package var frames: Int
    /// Frames with a cause: no pixels, or pixels that cannot be trusted.
    package var damaged: Int
    /// Frames whose pixels the recorder shed.
    package var shed: Int
    /// Of the first and the last frame; nil without frames.
    package var firstNanoseconds: Int64?
    package var lastNanoseconds: Int64?
  }

  package func counts(track: Int) throws(StoreError) -> TrackCounts {
    try read { database in
      let sizes = try Row.fetchOne(
        database, sql: "SELECT count(*), coalesce(sum(size), 0) FROM packet WHERE track = ?",
        arguments: [track])
      let frames = try Row.fetchOne(
        database,
        sql: """
          SELECT count(*), count(cause), count(*) - count(packet), min(pts_ns), max(pts_ns)
          FROM frame WHERE track = ?
          """, arguments: [track])
      guard let sizes, let frames else { throw RowDamage(table: "frame", column: "track") }
      var packetRow = RowReader(sizes, of: Schema.packet)
      var frameRow = RowReader(frames, of: Schema.frame)
      return TrackCounts(
        packets: try packetRow.count(), packetBytes: try packetRow.int64(),
        frames: try frameRow.count(), damaged: try frameRow.count(),
        shed: try frameRow.count(), firstNanoseconds: try frameRow.int64IfAny(),
        lastNanoseconds: try frameRow.int64IfAny())
    }
  }

  func rows<Record: StoredRow>(
    _ clause: String, _ arguments: StatementArguments = []
  ) throws(StoreError) -> [Record] {
    try read { database in
      let statement = try database.cachedStatement(sql: Record.table.selectSQL + " " + clause)
      let cursor = try Row.fetchCursor(statement, arguments: arguments)
      var records: [Record] = []
      while let row = try cursor.next() {
        var reader = RowReader(row, of: Record.table)
        records.append(try Record(&reader))
      }
      return records
    }
  }
}
