import RetakeBuffers

/// Runs on a separate thread, so that the caller can abandon the run.
///
/// The time plane runs bodies itself while it waits for values, and a body that hangs cannot be
/// ended. So with a watchdog, the caller's thread watches, and the thread of the run is abandoned.
struct WatchedRun {
  let clock: any LiveClock
  /// The longest real time of a body.
  let limit: Duration

  /// - Throws: The error of `body`, `RuntimeError.noThread`, or `HungBody`. After `HungBody`,
  ///   `body` may still be running. It never returns to this code, so its objects are not used
  ///   again.
  func run(_ body: @escaping (RunWatch) throws -> RunOutcome) throws -> RunOutcome {
    let watch = RunWatch()
    let result = Locked<Result<RunOutcome, any Error>?>(nil)
    let work = Handover(body: body)
    _ = try NamedThread("retake-run") {
      let outcome = Result { try work.body(watch) }
      result.withLock { $0 = outcome }
      watch.isOver.signal()
    }
    var detector = HangDetector()
    while true {
      wait(for: watch)
      if let result = result.withLock({ $0 }) { return try result.get() }
      let sight = watch.look()
      guard detector.hangs(sight), watch.giveUp(sight) else { continue }
      // Otherwise the waiting thread was notified, and ends the run by itself.
      if case .running(let body) = sight.activity { throw HungBody(body: body) }
    }
  }

  private func wait(for watch: RunWatch) {
    let slice = max(1, limit.nanoseconds / Int64(HangDetector.looksMax))
    clock.wait(untilNanoseconds: clock.monotonicNanoseconds + slice, or: watch.isOver)
  }

  /// Carries the caller's work to the thread of the run.
  private struct Handover: @unchecked Sendable {
    // @unchecked: the caller waits until the thread has ended, or abandons it in foreign code for
    // good. So only one of the two threads uses the objects of the work.
    let body: (RunWatch) throws -> RunOutcome
  }
}

/// Decides when an activity hangs, from looks at even intervals.
///
/// Looks are counted, not nanoseconds: a process that was stopped for an hour has missed its looks,
/// and no activity has hung.
struct HangDetector: Hashable, Sendable {
  /// Further looks with the same result before the activity counts as hanging.
  static let looksMax = 4

  private var seen: RunWatch.Sight?
  private var looks = 0
  private var hasHung = false

  /// Whether the activity of this look hangs. After the first hang, a single further look is
  /// enough.
  mutating func hangs(_ sight: RunWatch.Sight) -> Bool {
    looks = sight.activity != .free && sight == seen ? looks + 1 : 0
    seen = sight
    guard looks >= (hasHung ? 1 : Self.looksMax) else { return false }
    hasHung = true
    return true
  }
}
