/// A sleep on a virtual clock that has not woken yet.
public struct PendingSleep: Hashable, Sendable, CustomStringConvertible {
  /// The clock's name, or the task's, or else `task` with the task's number.
  public var name: String
  /// When the sleep began.
  public var since: VirtualClock.Instant
  /// When it is due.
  public var until: VirtualClock.Instant

  /// As `debounce: 50ms, begun at 1.2s`.
  public var description: String {
    "\(name): \(since.duration(to: until).brief), begun at \(since)"
  }
}
