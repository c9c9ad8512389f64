import GRDB
import RetakeCore

/// Queries whose result is a number or a few rows.
extension StoreReader {
  /// The last key packet at or before a packet; the track's first packet if there is no such key
  /// packet.
  package func keyPacket(track: Int, atOrBefore index: Int) throws -> Int {
    try number(
      """
      SELECT "index" FROM packet WHERE track = ? AND "index" <= ? AND (flags & 1) = 1
      ORDER BY "index" DESC LIMIT 1
      """, [track, index]) ?? 0
  }

  /// The first key packet after a packet; nil if there is no such key packet.
  package func keyPacket(track: Int, after index: Int) throws -> Int? {
    try number(
      """
      SELECT "index" FROM packet WHERE track = ? AND "index" > ? AND (flags & 1) = 1
      ORDER BY "index" LIMIT 1
      """, [track, index])
  }

  /// The sequence of a packet's first frame. It scans all frames of the track.
  package func firstSequence(track: Int, packet: Int) throws -> Int? {
    try number("SELECT min(sequence) FROM frame WHERE track = ? AND packet = ?", [track, packet])
  }

  package func packetCount(segment: Int) throws -> Int {
    try number("SELECT count(*) FROM packet WHERE segment = ?", [segment]) ?? 0
  }

  /// The highest index of a track's packets in some segments.
  package func lastPacket(segments: [Int], track: Int) throws -> Int? {
    try segments.compactMap {
      try number("SELECT max(\"index\") FROM packet WHERE track = ? AND segment = ?", [track, $0])
    }.max()
  }

  /// The lowest index of a track's packets in a segment; nil for an empty segment.
  package func firstPacket(track: Int, segment: Int) throws -> Int? {
    try number(
      "SELECT min(\"index\") FROM packet WHERE track = ? AND segment = ?", [track, segment])
  }

  /// The lowest index of a track's packets at or after `index`; nil after the last one.
  package func firstPacket(track: Int, atOrAfter index: Int) throws -> Int? {
    try number(
      """
      SELECT "index" FROM packet WHERE track = ? AND "index" >= ?
      ORDER BY "index" LIMIT 1
      """, [track, index])
  }

  /// The number that a query selects first; nil without a row, and for a value of another type.
  private func number(_ sql: String, _ arguments: StatementArguments) throws -> Int? {
    try read { database in
      let value = try DatabaseValue.fetchOne(database, sql: sql, arguments: arguments)
      return value.flatMap { Int.fromDatabaseValue($0) }
    }
  }

  /// Sequences of frames that are their own entry, in ascending order.
  package func entrySequences(track: Int) throws -> [Int] {
    try read { database in
      let walk = try RowWalk(
        """
        SELECT sequence FROM frame
        WHERE track = ? AND entry = packet AND cause IS NULL ORDER BY sequence
        """, [track], in: database)
      var sequences: [Int] = []
      while try walk.next() {
        // A damaged table may have no end.
        guard sequences.count < rowCountMax else {
          throw RowDamage(table: FrameRecord.table.name, column: "rows")
        }
        var reader = RowReader(walk, of: FrameRecord.table)
        sequences.append(try reader.count())
      }
      return sequences
    }
  }

  /// Number of frames with a packet and no cause that have no stored pixel digest.
  package func undigestedFrames(track: Int) throws -> Int {
    try number(
      """
      SELECT count(*) FROM frame
      WHERE track = ? AND packet IS NOT NULL AND cause IS NULL AND pixel_hash IS NULL
      """, [track]) ?? 0
  }

  /// Counts of a track, computed by the database.
  package struct TrackCounts: Hashable, Sendable {
    package var packets: Int
    package var packetBytes: Int64
    package var frames: Int
    /// Frames with a cause: without pixels, or with pixels that cannot be trusted.
    package var damaged: Int
    /// Frames whose pixels the recorder shed.
    package var shed: Int
    /// One more than the highest packet; more than `packets` if rows are missing.
    package var packetEnd: Int
    /// One more than the highest sequence.
    package var frameEnd: Int
    /// Times of the first and the last frame; nil without frames.
    package var firstNanoseconds: Int64?
    package var lastNanoseconds: Int64?
  }

  /// - Throws: `StoreError.corrupt`, also for a table that leads round in circles: every session is
  ///   counted when it is opened, before its rows are checked.
  package func counts(track: Int) throws -> TrackCounts {
    try read { database in
      // SQLite would never finish counting a table without an end, so each count ends one row above
      // the bound.
      let limit = rowCountMax + 1
      let sizes = try RowWalk(
        """
        SELECT count(*), coalesce(sum(size), 0), coalesce(max("index") + 1, 0)
        FROM (SELECT size, "index" FROM packet WHERE track = ? LIMIT ?)
        """, [track, limit], in: database)
      // count(column) leaves out NULL: a frame without a packet was shed.
      let frames = try RowWalk(
        """
        SELECT count(*), count(cause), count(*) - count(packet), coalesce(max(sequence) + 1, 0),
          min(pts_ns), max(pts_ns)
        FROM (SELECT sequence, pts_ns, packet, cause FROM frame WHERE track = ? LIMIT ?)
        """, [track, limit], in: database)
      // An aggregate without GROUP BY always returns one row.
      guard try sizes.next(), try frames.next() else {
        throw RowDamage(table: "frame", column: "track")
      }
      var packetRow = RowReader(sizes, of: PacketRecord.table)
      var frameRow = RowReader(frames, of: FrameRecord.table)
      let (packetCount, bytes) = (try packetRow.count(), try packetRow.int64())
      let (frameCount, damaged, shed) = (
        try frameRow.count(), try frameRow.count(), try frameRow.count()
      )
      for (table, count) in [(PacketRecord.table, packetCount), (FrameRecord.table, frameCount)]
      where count > rowCountMax {
        throw RowDamage(table: table.name, column: "rows")
      }
      return TrackCounts(
        packets: packetCount, packetBytes: bytes, frames: frameCount, damaged: damaged, shed: shed,
        packetEnd: try packetRow.count(), frameEnd: try frameRow.count(),
        firstNanoseconds: try frameRow.ifAny { try $0.nanoseconds() },
        lastNanoseconds: try frameRow.ifAny { try $0.nanoseconds() })
    }
  }

  /// A track's first and last frame; nil without frames. No other row is read.
  package func ends(
    track: Int
  ) throws -> (end: Int, firstNanoseconds: Int64, lastNanoseconds: Int64)? {
    guard let first = try end(track: track, "ASC"), let last = try end(track: track, "DESC") else {
      return nil
    }
    return (last.sequence + 1, first.nanoseconds, last.nanoseconds)
  }

  private func end(
    track: Int, _ order: String
  ) throws -> (sequence: Int, nanoseconds: Int64)? {
    try read { database in
      let walk = try RowWalk(
        "SELECT sequence, pts_ns FROM frame WHERE track = ? ORDER BY sequence \(order) LIMIT 1",
        [track], in: database)
      guard try walk.next() else { return nil }
      var reader = RowReader(walk, of: FrameRecord.table)
      return (try reader.count(), try reader.nanoseconds())
    }
  }

  /// The frames in a span of time, from the first to the last, and their times; nil without frames.
  package func sequences(
    track: Int, nanoseconds: Range<Int64>
  ) throws -> (sequences: ClosedRange<Int>, first: Int64, last: Int64)? {
    try read { database in
      let walk = try RowWalk(
        """
        SELECT min(sequence), max(sequence), min(pts_ns), max(pts_ns)
        FROM frame WHERE track = ? AND pts_ns >= ? AND pts_ns < ?
        """, [track, nanoseconds.lowerBound, nanoseconds.upperBound], in: database)
      guard try walk.next() else { return nil }
      var reader = RowReader(walk, of: FrameRecord.table)
      // min and max of no rows are NULL.
      guard let first = try reader.ifAny({ try $0.count() }),
        let last = try reader.ifAny({ try $0.count() })
      else {
        return nil
      }
      return (first...last, try reader.nanoseconds(), try reader.nanoseconds())
    }
  }

  /// The rows of all frames that some packets show. It scans all frames of the track.
  package func frames(
    track: Int, packets: ClosedRange<Int>
  ) throws -> [FrameRecord] {
    try rows(
      "WHERE track = ? AND packet >= ? AND packet <= ? ORDER BY sequence",
      [track, packets.lowerBound, packets.upperBound])
  }
}
