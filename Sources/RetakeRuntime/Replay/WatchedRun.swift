import RetakeBuffers

/// Runs on a thread of its own, so that whoever called can give it up.
///
/// The time plane runs bodies by itself while it helps, and nothing can end a body that hangs. So
/// with a watchdog the caller's thread is the one that looks, and the run's thread is left behind.
struct WatchedRun {
  let clock: any LiveClock
  /// How long a body may take.
  let limit: Duration

  /// - Throws: What `body` throws, `RuntimeError.noThread`, or `HungBody`. After that one, `body` may still be there: it
  ///   never comes back to this code, so nothing that it holds is used again.
  func run(_ body: @escaping (RunWatch) throws -> RunOutcome) throws -> RunOutcome {
    let watch = RunWatch()
    let result = Locked<Result<RunOutcome, any Error>?>(nil)
    let work = Handover(body: body)
    _ = try NamedThread("retake-run") {
      let outcome = Result { try work.body(watch) }
      result.withLock { $0 = outcome }
      watch.isOver.ring()
    }
    var detector = HangDetector()
    while true {
      wait(for: watch)
      if let result = result.withLock({ $0 }) { return try result.get() }
      let sight = watch.look()
      guard detector.hangs(sight), watch.giveUp(sight) else { continue }
      // What waits for another thread is told, and ends the run by itself.
      if case .running(let body) = sight.activity { throw HungBody(body: body) }
    }
  }

  private func wait(for watch: RunWatch) {
    let slice = max(1, limit.nanoseconds / Int64(HangDetector.looksMax))
    clock.wait(untilNanoseconds: clock.monotonicNanoseconds + slice, or: watch.isOver)
  }

  /// Takes the caller's work to the thread of the run.
  private struct Handover: @unchecked Sendable {
    // @unchecked: the caller waits until the thread has ended, or is left behind in somebody
    // else's code for ever; so only one of the two uses what the work holds.
    let body: (RunWatch) throws -> RunOutcome
  }
}

/// Says when something takes too long, from looks that are taken at even distances.
///
/// Looks are counted, not nanoseconds: a process that was stopped for an hour has missed its looks,
/// and nothing has hung.
struct HangDetector: Hashable, Sendable {
  /// Looks after the first that see the same before it counts as hanging.
  static let looksMax = 4

  private var seen: RunWatch.Sight?
  private var looks = 0
  private var hasHung = false

  /// Whether what this look sees hangs. Once something did, patience is short.
  mutating func hangs(_ sight: RunWatch.Sight) -> Bool {
    looks = sight.activity != .free && sight == seen ? looks + 1 : 0
    seen = sight
    guard looks >= (hasHung ? 1 : Self.looksMax) else { return false }
    hasHung = true
    return true
  }
}
