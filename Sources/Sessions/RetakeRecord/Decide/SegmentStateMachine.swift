import RetakeStore

/// Decides which segment a packet goes to, and whether a failed segment ends the recording.
///
/// A segment begins with a key packet. Its packets do not depend on an earlier segment, with one
/// exception: the packets after a recovery point of H.264 at which a segment was only too long
/// (`limitReason`).
struct SegmentStateMachine: Hashable, Sendable {
  struct Limits: Hashable, Sendable {
    var bytesMax: Int64
    var nanosecondsMax: Int64
  }

  enum Action: Hashable, Sendable {
    case write
    /// Begin a segment with this packet, and call `opened`; the reason is nil for the first segment.
    case open(reason: String?)
    /// The packet depends on a lost packet: its frame keeps its row, with this cause. Nothing can
    /// be written before the next key packet, so the caller must request a key packet. A segment
    /// that reached its limit waits for the next regular key packet instead, so that an unpaced
    /// recording always has the same segments.
    case lose(cause: String)
  }

  enum Consequence: Hashable, Sendable {
    case newSegment
    case stop
  }

  /// The reason of a segment that continues the packets of the segment before, without a loss.
  static let limitReason = SegmentRecord.limitReason
  /// Segments that may fail in a row without a commit in between.
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

  /// - Parameters:
  ///   - epoch: Number of the encoder's settings; packets of another epoch do not fit in the
  ///     segment.
  ///   - shape: Human-readable; the reason for a new segment when the epoch changes.
  ///   - bytes: Size of the segment so far.
  mutating func packet(
    epoch: Int, shape: String, isKey: Bool, timeNanoseconds: Int64, bytes: Int64
  ) -> Action {
    switch state {
    case .closed(let reason):
      guard isKey else { return .lose(cause: RecordCause.lostReference) }
      return .open(reason: reason)
    // A file's stream has one decoder configuration, so other settings need another file.
    case .open(let current, _) where current != epoch:
      guard isKey else { return .lose(cause: RecordCause.lostReference) }
      return .open(reason: shape)
    case .open(_, let started):
      let isFull =
        bytes >= limits.bytesMax
        || Int128(timeNanoseconds) - Int128(started) >= Int128(limits.nanosecondsMax)
      return isFull && isKey ? .open(reason: Self.limitReason) : .write
    }
  }

  /// The file of the segment that begins exists.
  ///
  /// The writer first commits the previous segment. That commit may fail: the packet that begins
  /// this segment is a key packet all the same, and the segment need not wait for another.
  ///
  /// - Parameter reason: The reason in the `open` action.
  /// - Returns: Why the segment begins: the failure of that commit, or `reason`.
  mutating func opened(epoch: Int, timeNanoseconds: Int64, reason: String?) -> String? {
    var reason = reason
    if case .closed(let failure) = state { reason = failure }
    state = .open(epoch: epoch, startedNanoseconds: timeNanoseconds)
    return reason
  }

  /// A write or a sync failed. It is never retried: the uncommitted part of the segment is lost,
  /// and a new segment begins unless it would fail too. If the file reached a size limit, later
  /// segments end well below that size.
  ///
  /// - Parameter bytes: Size of the segment that failed.
  mutating func failed(_ failure: WriteFailure, bytes: Int64 = 0) -> Consequence {
    if failure.isFileFull { limits.bytesMax = min(limits.bytesMax, max(1, bytes / 2)) }
    state = .closed(reason: failure.word)
    failures += 1
    return failure.isDiskFull || failures >= Self.failuresMax ? .stop : .newSegment
  }

  mutating func committed() {
    failures = 0
  }
}
