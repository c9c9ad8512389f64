import RetakeCore

extension StoreWriter {
  // MARK: Rows. New ones; a key that exists already makes the commit fail.

  package func append(_ rows: [SegmentRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [SegmentTrackRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [PacketRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [FrameRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [EventRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [FileRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [RunRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [NodeRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [SpanRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [ExternalEventRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [DecisionRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [ResultRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [SensorRecord]) { append(rows, replaces: false) }
  package func append(_ rows: [SampleRecord]) { append(rows, replaces: false) }

  // MARK: Rows that take the place of the one with their key.

  package func replace(_ row: SegmentRecord) { append([row], replaces: true) }
  package func replace(_ rows: [PacketRecord]) { append(rows, replaces: true) }
  /// A frame's entry and pixel hash are known later than the frame.
  package func replace(_ rows: [FrameRecord]) { append(rows, replaces: true) }
  package func replace(_ row: FileRecord) { append([row], replaces: true) }
}
