/// Decides in which segment a packet goes, and what is done when a segment fails.
///
/// A segment begins with a key packet, so nothing in it needs an earlier one.
struct SegmentStateMachine: Hashable, Sendable {
  struct Limits: Hashable, Sendable {
    var bytesMax: Int64
    var nanosecondsMax: Int64
  }

  enum Action: Hashable, Sendable {
    case write
    /// Begin a segment with this packet; the reason is nil for the first one.
    case open(reason: String?)
    /// The packet needs one that was lost: its frame keeps its row, with this cause.
    case lose(cause: String)
  }

  enum Consequence: Hashable, Sendable {
    case newSegment
    case stop
  }

  /// Segments that may fail one after another without a commit between.
  static let failuresMax = 3

  private enum State: Hashable, Sendable {
    case closed(reason: String?)
    case open(epoch: Int, startedNanoseconds: Int64)
  }

  private(set) var limits: Limits
  private var state = State.closed(reason: nil)
  private var failures = 0

  init(limits: Limits) {
    self.limits = limits
  }

  /// Nothing can be written before a key packet comes: ask for one. A limit waits for the next
  /// that comes by itself, so that an unpaced recording has the same segments every time.
  private(set) var wantsKey = false

  /// - Parameters:
  ///   - epoch: Counts the encoder's settings; packets of another one do not fit in the segment.
  ///   - shape: In words, the reason for a new segment when the epoch changes.
  ///   - bytes: Of the segment so far.
  mutating func packet(
    epoch: Int, shape: String, isKey: Bool, timeNanoseconds: Int64, bytes: Int64
  ) -> Action {
    switch state {
    case .closed(let reason):
      guard isKey else {
        wantsKey = true
        return .lose(cause: RecordCause.lostReference)
      }
      return open(epoch, timeNanoseconds, reason: reason)
    case .open(let current, _) where current != epoch:
      guard isKey else {
        wantsKey = true
        return .lose(cause: RecordCause.lostReference)
      }
      return open(epoch, timeNanoseconds, reason: shape)
    case .open(_, let started):
      let isFull =
        bytes >= limits.bytesMax
        || Int128(timeNanoseconds) - Int128(started) >= Int128(limits.nanosecondsMax)
      return isFull && isKey ? open(epoch, timeNanoseconds, reason: "limit") : .write
    }
  }

  private mutating func open(_ epoch: Int, _ time: Int64, reason: String?) -> Action {
    state = .open(epoch: epoch, startedNanoseconds: time)
    wantsKey = false
    return .open(reason: reason)
  }

  /// A write or a sync failed. It is never tried again: what is not committed of the segment is
  /// lost, and the next one begins, unless that has no prospect. Where a file may not be larger,
  /// the next ones end well before.
  ///
  /// - Parameter bytes: Of the segment that failed.
  mutating func failed(_ failure: WriteFailure, bytes: Int64 = 0) -> Consequence {
    if failure.isFileFull { limits.bytesMax = min(limits.bytesMax, max(1, bytes / 2)) }
    state = .closed(reason: failure.word)
    wantsKey = true
    failures += 1
    return failure.isDiskFull || failures >= Self.failuresMax ? .stop : .newSegment
  }

  mutating func committed() {
    failures = 0
  }
}

/// Why media could not be written.
struct WriteFailure: Hashable, Sendable {
  enum Step: String, Hashable, Sendable {
    case open, write, synchronise
  }

  var step: Step
  var file: String
  /// The system's.
  var errorNumber: Int32

  /// For the segment that follows, and the event.
  var word: String { "\(step.rawValue) failed (\(errorNumber))" }
  var isDiskFull: Bool { FileSystem.diskFullNumbers.contains(errorNumber) }
  /// The file system or the process's own limit lets no file be larger.
  var isFileFull: Bool { errorNumber == FileSystem.fileFullNumber }
}

/// Why a frame has no pixels: stable codes in the frame table.
enum RecordCause {
  /// The encoder was behind.
  static let shedEncoder = "record.shed.encoder"
  /// The disk was behind.
  static let shedDisk = "record.shed.disk"
  /// The process's memory was nearly used up, or there was none for the frame.
  static let shedMemory = "record.shed.memory"
  /// The disk's reserve was reached before it was written.
  static let shedReserve = "record.shed.reserve"
  static let encodeFailed = "record.encode.failed"
  /// The write failed before the commit.
  static let lostWrite = "record.lost.write"
  /// A frame that it needs was lost.
  static let lostReference = "record.lost.reference"
}
