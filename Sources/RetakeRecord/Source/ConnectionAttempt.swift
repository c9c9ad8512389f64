import RetakeBuffers
import RetakeMedia
import RetakeRuntime

/// The first connection to a live source, made on a thread of its own: whoever waits for it hears of
/// Ctrl-C, and of the end of their patience, whatever the call hangs in, such as a name server.
struct ConnectionAttempt {
  let limit: CallLimit
  private let source: String
  private let nanosecondsMax: Int64
  private let clock: any LiveClock
  private let isInterrupted: @Sendable () -> Bool

  /// One call lasts so long at most.
  private static let callNanosecondsMax: Int64 = 5_000_000_000
  /// A source that is there is looked at for a while before its first frame.
  private static let lookNanosecondsMax: Int64 = 1_500_000_000
  /// FFmpeg lets go within a tenth of a second; what does not is left alone after this.
  private static let graceNanoseconds: Int64 = 500_000_000
  private static let pauseNanoseconds: Int64 = 100_000_000

  init(
    _ source: String, patience: Duration?, clock: any LiveClock,
    _ isInterrupted: @escaping @Sendable () -> Bool
  ) {
    (self.source, self.clock, self.isInterrupted) = (source, clock, isInterrupted)
    let patient = min(Self.callNanosecondsMax, patience?.nanoseconds ?? .max)
    nanosecondsMax = min(Self.callNanosecondsMax, patient + Self.lookNanosecondsMax)
    limit = CallLimit(
      clock: clock, nanosecondsMax: nanosecondsMax, isInterrupted: isInterrupted)
  }

  /// - Throws: What `connect` throws; `MediaError.timedOut`, `RecordError.stoppedBefore` or
  ///   `RuntimeError.noThread`.
  func run(
    _ connect: @escaping @Sendable (CallLimit) throws -> InputConnection
  ) throws -> InputConnection {
    let result = Locked<Result<InputConnection, any Error>?>(nil)
    let done = Bell()
    _ = try NamedThread("retake-connect") { [limit] in
      let made = Result { try limit.during { try connect(limit) } }
      result.withLock { $0 = made }
      done.ring()
    }
    let deadline = clock.monotonicNanoseconds + nanosecondsMax + Self.graceNanoseconds
    var stopped: Int64?
    // Ends: the call does, or the deadline comes.
    while true {
      if let made = result.withLock({ $0 }) {
        if isInterrupted() { throw RecordError.stoppedBefore(source: source) }
        return try made.get()
      }
      let now = clock.monotonicNanoseconds
      if isInterrupted() { stopped = stopped ?? now }
      if let stopped, now - stopped >= Self.graceNanoseconds {
        throw RecordError.stoppedBefore(source: source)
      }
      guard now < deadline else { throw MediaError.timedOut(address: source) }
      clock.wait(untilNanoseconds: now + Self.pauseNanoseconds, or: done)
    }
  }
}
