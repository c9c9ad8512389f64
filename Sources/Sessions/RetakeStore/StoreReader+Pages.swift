import GRDB
package import RetakeCore

/// Reads rows page by page, in the order of their keys.
extension StoreReader {
  /// Limit for a session, and for one track. A recorder begins a segment when its source comes back
  /// or changes. One segment every ten seconds for a week is below this limit.
  package static let segmentCountMax = 65_536
  /// FFmpeg's own limit of the streams of a file.
  package static let trackCountMax = 1_000

  package func segments() throws -> [SegmentRecord] {
    // One row above the limit shows that there are more, without reading them all.
    let rows: [SegmentRecord] = try rows("ORDER BY \"index\" LIMIT \(Self.segmentCountMax + 1)")
    guard rows.count <= Self.segmentCountMax else {
      throw tooMany("segment", "\(Self.segmentCountMax) rows")
    }
    return rows
  }

  /// Ordered by track, then by segment.
  package func segmentTracks() throws -> [SegmentTrackRecord] {
    // Counted no further than the bound on rows, and before they are sorted: a damaged table may
    // have no end.
    let (tracks, count) = try read { database in
      let walk = try RowWalk(
        """
        SELECT count(DISTINCT track), count(*) FROM (SELECT track FROM segment_track LIMIT ?)
        """, [Self.segmentCountMax + 1], in: database)
      guard try walk.next() else { throw RowDamage(table: "segment_track", column: "track") }
      var reader = RowReader(walk, of: SegmentTrackRecord.table)
      return (try reader.count(), try reader.count())
    }
    guard tracks <= Self.trackCountMax else {
      throw tooMany("segment_track", "\(Self.trackCountMax) tracks")
    }
    guard count <= Self.segmentCountMax else {
      throw tooMany("segment_track", "\(Self.segmentCountMax) rows")
    }
    return try rows("ORDER BY track, segment")
  }

  private func tooMany(_ table: String, _ most: String) -> StoreError {
    .corrupt(path: path, cause: "\(table) has more than \(most), which no session has")
  }

  package func files() throws -> [FileRecord] {
    try rows("ORDER BY path")
  }

  package func packets(
    track: Int, indexes: Range<Int>
  ) throws -> [PacketRecord] {
    try rows(
      "WHERE track = ? AND \"index\" >= ? AND \"index\" < ? ORDER BY \"index\"",
      [track, indexes.lowerBound, indexes.upperBound])
  }

  package func frames(
    track: Int, sequences: Range<Int>
  ) throws -> [FrameRecord] {
    try rows(
      "WHERE track = ? AND sequence >= ? AND sequence < ? ORDER BY sequence",
      [track, sequences.lowerBound, sequences.upperBound])
  }

  /// At most `count` packets of a track, from the index on. A gap of any length is crossed: only
  /// after the last row is the page empty.
  package func packets(
    track: Int, from index: Int, count: Int
  ) throws -> [PacketRecord] {
    try rows(
      "WHERE track = ? AND \"index\" >= ? ORDER BY \"index\" LIMIT ?", [track, index, count])
  }

  /// At most `count` frames of a track, from the sequence on; empty only after the last row.
  package func frames(
    track: Int, from sequence: Int, count: Int
  ) throws -> [FrameRecord] {
    try rows(
      "WHERE track = ? AND sequence >= ? ORDER BY sequence LIMIT ?", [track, sequence, count])
  }

  /// Passes on the frames of a track page by page, while `body` returns `true`.
  package func eachFramePage(
    track: Int, count: Int = 1_024, _ body: ([FrameRecord]) throws -> Bool
  ) throws {
    try Self.eachPage(
      after: \.sequence, { try frames(track: track, from: $0, count: count) }, body)
  }

  /// Passes on pages of rows until a page is empty or `body` returns `false`.
  ///
  /// - Parameters:
  ///   - number: The number that the next page begins behind.
  ///   - page: Reads the page that begins at a number.
  ///   - body: May use the reader, in contrast to that of `each`.
  package static func eachPage<Row>(
    from first: Int = 0, after number: KeyPath<Row, Int>, _ page: (Int) throws -> [Row],
    _ body: ([Row]) throws -> Bool
  ) rethrows {
    var next = first
    while true {
      let rows = try page(next)
      // Rows of a damaged table may lead back.
      guard let last = rows.last?[keyPath: number], last >= next, try body(rows) else { return }
      next = last + 1
    }
  }

  package func frame(_ id: FrameID) throws -> FrameRecord? {
    try frames(track: id.track, sequences: id.sequence..<id.sequence + 1).first
  }

  /// The digest of each frame's packet and whether it is a key packet, by sequence; frames without
  /// a packet are omitted.
  package func packetFacts(
    track: Int, sequences: Range<Int>
  ) throws -> [Int: (digest: Digest128, isKey: Bool)] {
    try read { database in
      let walk = try RowWalk(
        """
        SELECT frame.sequence, packet.digest, packet.flags FROM frame
        JOIN packet ON packet.track = frame.track AND packet."index" = frame.packet
        WHERE frame.track = ? AND frame.sequence >= ? AND frame.sequence < ?
        """, [track, sequences.lowerBound, sequences.upperBound], in: database)
      var facts: [Int: (digest: Digest128, isKey: Bool)] = [:]
      var count = 0
      while try walk.next() {
        count += 1
        guard count <= rowCountMax else { throw RowDamage(table: "frame", column: "rows") }
        var reader = RowReader(walk, of: PacketRecord.table)
        let (sequence, digest) = (try reader.count(), try reader.digest())
        let flags = PacketRecord.Flags(rawValue: try reader.int(in: 0...7))
        facts[sequence] = (digest, flags.contains(.key))
      }
      return facts
    }
  }

  /// Maximum number of events in memory; a session with more cannot be replayed or trimmed.
  package static let eventCountMax = 1 << 20

  package func events() throws -> [EventRecord] {
    guard try eventCount() <= Self.eventCountMax else {
      throw tooMany("event", "\(Self.eventCountMax) rows")
    }
    return try rows("ORDER BY ordinal")
  }

  /// At most `count` events, from the ordinal on; empty only after the last row.
  package func events(from ordinal: Int, count: Int) throws -> [EventRecord] {
    try rows("WHERE ordinal >= ? ORDER BY ordinal LIMIT ?", [ordinal, count])
  }

  package func eventCount() throws -> Int {
    try read { try boundedCount(of: EventRecord.table.name, in: $0) }
  }

  /// The number of a table's rows. A damaged table may contain a cycle, so counting stops after the
  /// most rows that the file can hold.
  func boundedCount(of table: String, in database: Database) throws -> Int {
    let count =
      try Int.fetchOne(
        database, sql: "SELECT count(*) FROM (SELECT 1 FROM \(table) LIMIT ?)",
        arguments: [rowCountMax + 1]) ?? 0
    guard count <= rowCountMax else { throw RowDamage(table: table, column: "rows") }
    return count
  }

  package func runs() throws -> [RunRecord] { try rows("ORDER BY run") }

  package func nodes(run: Int) throws -> [NodeRecord] {
    try rows("WHERE run = ? ORDER BY node", [run])
  }

  /// The spans of one node, by track, sequence and item.
  package func spans(run: Int, node: String) throws -> [SpanRecord] {
    try rows(
      "WHERE run = ? AND node = ? ORDER BY track, sequence, item",
      [run, node])
  }

  /// The runs that have spans, in ascending order.
  package func runsWithSpans() throws -> [Int] {
    var result: [Int] = []
    for run in try runs() where try hasSpans(run: run.run) { result.append(run.run) }
    return result
  }

  private func hasSpans(run: Int) throws -> Bool {
    try read { database in
      try Row.fetchOne(database, sql: "SELECT 1 FROM span WHERE run = ? LIMIT 1", arguments: [run])
        != nil
    }
  }

  /// Passes on the spans of a run, one at a time, by node, track, sequence and item, while `body`
  /// returns `true`.
  package func eachSpan(
    run: Int, _ body: (SpanRecord) -> Bool
  ) throws {
    try each("WHERE run = ? ORDER BY node, track, sequence, item", [run], body)
  }

  package func externalEvents(
    run: Int, ordinals: Range<Int>
  ) throws -> [ExternalEventRecord] {
    try rows(Self.ofRun, [run, ordinals.lowerBound, ordinals.upperBound])
  }

  package func decisions(
    run: Int, ordinals: Range<Int>
  ) throws -> [DecisionRecord] {
    try rows(Self.ofRun, [run, ordinals.lowerBound, ordinals.upperBound])
  }

  package func results(
    run: Int, ordinals: Range<Int>
  ) throws -> [ResultRecord] {
    try rows(Self.ofRun, [run, ordinals.lowerBound, ordinals.upperBound])
  }

  /// At most `count` decisions of a run, from the ordinal on; empty only after the last row.
  package func decisions(
    run: Int, from ordinal: Int, count: Int
  ) throws -> [DecisionRecord] {
    try rows(Self.fromOrdinal, [run, ordinal, count])
  }

  /// At most `count` results of a run, from the ordinal on; empty only after the last row.
  package func results(
    run: Int, from ordinal: Int, count: Int
  ) throws -> [ResultRecord] {
    try rows(Self.fromOrdinal, [run, ordinal, count])
  }

  private static let fromOrdinal = "WHERE run = ? AND ordinal >= ? ORDER BY ordinal LIMIT ?"
  private static let ofRun = "WHERE run = ? AND ordinal >= ? AND ordinal < ? ORDER BY ordinal"

  /// Maximum bytes of the rows that are in memory at once.
  private static let pageBytesMax = 512 << 20

  func rows<Record: StoredRow>(
    _ clause: String, _ arguments: StatementArguments = []
  ) throws -> [Record] {
    var records: [Record] = []
    var bytes = 0
    try walk(Record.self, clause, arguments) { row in
      bytes += row.byteCount
      // A few rows may have values of 64 MiB each.
      guard bytes <= Self.pageBytesMax else {
        throw RowDamage(table: Record.table.name, column: "rows")
      }
      records.append(try Record(row))
      return true
    }
    return records
  }

  /// Passes on records one at a time, without keeping them in memory, while `body` returns `true`.
  ///
  /// - Parameter body: Must not use this reader: reads do not nest.
  func each<Record: StoredRow>(
    _ clause: String, _ arguments: StatementArguments = [], _ body: (Record) throws -> Bool
  ) throws {
    try walk(Record.self, clause, arguments) { try body(Record($0)) }
  }

  private func walk<Record: StoredRow>(
    _: Record.Type, _ clause: String, _ arguments: StatementArguments,
    _ body: (RowReader) throws -> Bool
  ) throws {
    let table = Record.table
    // A table that an older schema does not have is empty.
    guard has(table) else { return }
    // Before the read, because it reads all frames itself.
    let ranks = Record.self == FrameRecord.self ? try shownRanks() : [:]
    try read { database in
      let walk = try RowWalk(
        table.selectSQL(version: Int64(schemaVersion)) + " " + clause, arguments, in: database,
        keepsStatement: true)
      var count = 0
      while try walk.next() {
        count += 1
        // A damaged table may have no end.
        guard count <= rowCountMax else { throw RowDamage(table: table.name, column: "rows") }
        guard try body(RowReader(walk, of: table, ranks: ranks)) else { return }
      }
    }
  }
}
