/// Why a frame has no pixels: stable codes in the frame table.
enum RecordCause {
  /// The encoder was too slow.
  static let shedEncoder = "record.shed.encoder"
  /// The disk was too slow.
  static let shedDisk = "record.shed.disk"
  /// The process's memory was nearly exhausted, or an allocation for the frame failed.
  static let shedMemory = "record.shed.memory"
  /// The disk's reserve was reached before the frame was written.
  static let shedReserve = "record.shed.reserve"
  static let encodeFailed = "record.encode.failed"
  /// The write failed before the commit.
  static let lostWrite = "record.lost.write"
  /// A frame that it depends on was lost.
  static let lostReference = "record.lost.reference"
}
