import RetakeBuffers
import RetakeMedia
import RetakeRuntime

/// Makes the first connection to a live source on a separate thread. The caller can therefore be
/// interrupted by Ctrl-C or by a timeout, even if the call blocks, for example in name resolution.
struct ConnectionAttempt {
  let limit: CallLimit
  private let source: String
  private let nanosecondsMax: Int64
  private let clock: any LiveClock
  private let isInterrupted: @Sendable () -> Bool

  /// Maximum duration of one call.
  private static let callNanosecondsMax: Int64 = 5_000_000_000
  /// Time to analyze a source that has answered, before its first frame.
  private static let lookNanosecondsMax: Int64 = 1_500_000_000
  /// FFmpeg returns within a tenth of a second. A call that does not return in this time is
  /// abandoned.
  private static let graceNanoseconds: Int64 = 500_000_000
  private static let pauseNanoseconds: Int64 = 100_000_000

  init(
    _ source: String, patience: Duration?, clock: any LiveClock,
    _ isInterrupted: @escaping @Sendable () -> Bool
  ) {
    (self.source, self.clock, self.isInterrupted) = (source, clock, isInterrupted)
    // The two limits in docs/recording.md, "A source that cannot be reached": 5 s, or 1.5 s after
    // the patience.
    let patient = min(Self.callNanosecondsMax, patience?.nanoseconds ?? .max)
    nanosecondsMax = min(Self.callNanosecondsMax, patient + Self.lookNanosecondsMax)
    limit = CallLimit(
      clock: clock, nanosecondsMax: nanosecondsMax, isInterrupted: isInterrupted)
  }

  /// - Throws: Errors of `connect`; `MediaError.timedOut`, `RecordError.stoppedBefore` or
  ///   `RuntimeError.noThread`.
  func run(
    _ connect: @escaping @Sendable (CallLimit) throws -> InputConnection
  ) throws -> InputConnection {
    let result = Locked<Result<InputConnection, any Error>?>(nil)
    let done = ThreadCondition()
    // Not joined: a call that hangs in name resolution cannot be ended, and must not hang the
    // caller.
    _ = try NamedThread("retake-connect") { [limit] in
      let made = Result { try limit.during { try connect(limit) } }
      result.withLock { $0 = made }
      done.signal()
    }
    let deadline = clock.monotonicNanoseconds + nanosecondsMax + Self.graceNanoseconds
    var stopped: Int64?
    // Ends: the call returns, or the deadline is reached.
    while true {
      if let made = result.withLock({ $0 }) {
        // The interrupted call's own error would blame the source.
        if isInterrupted() { throw RecordError.stoppedBefore(source: source) }
        return try made.get()
      }
      let now = clock.monotonicNanoseconds
      if isInterrupted() { stopped = stopped ?? now }
      if let stopped, now - stopped >= Self.graceNanoseconds {
        throw RecordError.stoppedBefore(source: source)
      }
      guard now < deadline else { throw MediaError.timedOut(address: source) }
      // An interruption signals no condition, so it is polled.
      clock.wait(untilNanoseconds: now + Self.pauseNanoseconds, or: done)
    }
  }
}
