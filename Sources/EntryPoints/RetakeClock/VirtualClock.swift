/// A clock whose time passes only when everything in its scope has come to rest.
///
/// Pass it to code that has a clock as a parameter: `Preview(clock: time.clock)`. A sleep costs no
/// real time. Each scope of `withVirtualTime` has a clock that ends with the scope: a later sleep
/// throws `VirtualTimeError.ended`.
///
/// Sleeps wake in the order of their deadlines. Sleeps with the same deadline wake in the order in
/// which they began; each waits until all work of the sleep before has come to rest. Frames arrive
/// after the sleeps of the same instant. A deadline in the past counts as the present.
public struct VirtualClock: Clock, Sendable {
  let scope: Scope
  /// The name of this clock's sleeps in failures; `nil` for the name of the task.
  let name: String?

  /// The present instant. It does not change while a job runs.
  public var now: Instant { scope.now }

  /// One nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The same clock, under a name that failures show: `debounce: 50ms, begun at 1.2s`.
  public func named(_ name: String) -> VirtualClock { VirtualClock(scope: scope, name: name) }

  /// Returns when virtual time has reached `deadline`. The tolerance is not used.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, and `VirtualTimeError.ended`
  ///   if the scope has ended.
  public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
    try Task.checkCancellation()
    let order = try scope.newSleep(name: name ?? Self.taskName, until: deadline)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { scope.sleep(order, $0) }
    } onCancel: {
      scope.cancelSleep(order)
    }
  }

  /// `Task.name` is from macOS 26; Linux has it with Swift 6.2.
  private static var taskName: String? {
    if #available(macOS 26, iOS 26, *) { return Task.name }
    return nil
  }
}
