import RetakeBuffers
import RetakeCore
import RetakeRuntime

/// Limits how long a call may block, and lets another thread cancel it.
final class CallLimit: Sendable {
  private struct State: Sendable {
    /// nil when no call is in progress.
    var startedNanoseconds: Int64?
    var isCancelled = false
  }

  private let clock: any LiveClock
  private let nanosecondsMax: Int64
  private let isInterrupted: @Sendable () -> Bool
  private let state = Locked(State())
  /// Rings when the caller should stop waiting.
  let cancelled = ThreadCondition()

  /// FFmpeg returns within a tenth of a second after the limit is reached.
  ///
  /// - Parameter isInterrupted: Polled while a call waits; true ends the call.
  init(
    clock: any LiveClock, nanosecondsMax: Int64 = 5_000_000_000,
    isInterrupted: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.clock, self.nanosecondsMax, self.isInterrupted) = (clock, nanosecondsMax, isInterrupted)
  }

  /// Measures the duration of `body`.
  func during<Result>(_ body: () throws -> Result) rethrows -> Result {
    let now = clock.monotonicNanoseconds
    state.withLock { $0.startedNanoseconds = now }
    defer { state.withLock { $0.startedNanoseconds = nil } }
    return try body()
  }

  func cancel() {
    state.withLock { $0.isCancelled = true }
    cancelled.signal()
  }

  var startedNanoseconds: Int64? { state.withLock { $0.startedNanoseconds } }
  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  var isOver: Bool {
    if isInterrupted() { return true }
    let now = clock.monotonicNanoseconds
    return state.withLock {
      $0.isCancelled || $0.startedNanoseconds.map { now - $0 >= nanosecondsMax } ?? false
    }
  }

  /// Waits for this long, or until it is cancelled.
  func wait(nanoseconds: Int64) {
    clock.wait(untilNanoseconds: clock.monotonicNanoseconds + nanoseconds, or: cancelled)
  }
}
