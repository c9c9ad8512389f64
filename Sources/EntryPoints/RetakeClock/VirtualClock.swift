/// A clock whose time passes only when everything in its scope has come to rest.
///
/// Give it to code that takes a clock: `Preview(clock: time.clock)`. A sleep costs no real time. There
/// is one in each scope of `withVirtualTime`, and it ends with it: a later sleep throws
/// `VirtualTimeError.ended`.
///
/// Sleeps wake in the order of their deadlines; those of one instant in the order in which they began,
/// each when what the one before has started has come to rest. Frames arrive after them. A deadline in the past is the present.
public struct VirtualClock: Clock, Sendable {
  let scope: Scope
  /// What failures call a sleep of this clock; `nil` for the name of the task.
  let name: String?

  /// The present instant. It does not change while a job runs.
  public var now: Instant { scope.now }

  /// One nanosecond.
  public var minimumResolution: Duration { .nanoseconds(1) }

  /// The same clock, under a name that failures show: `debounce: 50ms, begun at 1.2s`.
  public func named(_ name: String) -> VirtualClock { VirtualClock(scope: scope, name: name) }

  /// Returns when virtual time has reached `deadline`. The tolerance is not used.
  ///
  /// - Throws: `CancellationError` as soon as the task is cancelled, and `VirtualTimeError.ended` if the
  ///   scope has ended.
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
