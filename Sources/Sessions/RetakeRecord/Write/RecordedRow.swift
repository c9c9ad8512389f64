import RetakeStore

/// A row that is not yet in the database.
enum RecordedRow: Sendable {
  case frame(FrameRecord, EncodedFrame?)
  case event(EventRecord)
  case run(RunRows)
  /// Only with a shadow pipeline; after the row of its frame.
  case compared(ComparedFrame)
}
