import RetakeStore

/// A row that is not yet in the database.
enum RecordedRow: Sendable {
  case frame(FrameRecord, EncodedFrame?)
  case event(EventRecord)
  case run(RunRows)
}
