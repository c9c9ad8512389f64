import RetakeCore
import RetakeGraph

/// A double-buffered screen: one picture is seen, the newest that came waits for the next refresh, and
/// replaces whatever waited before it.
struct ScreenStateMachine: Hashable, Sendable {
  let clock: ScreenClock
  private(set) var counts: ScreenCounts
  private var seen: Work?
  private var waiting: Work?
  /// The refresh at which the picture that is seen came.
  private var lastRefresh: Int64?
  private var unseenSinceLast = 0

  init(clock: ScreenClock, sink: String) {
    self.clock = clock
    counts = ScreenCounts(sink: sink)
  }

  /// A picture comes.
  ///
  /// - Returns: The one that will never be seen for it. Without one the screen has to be told of its
  ///   next refresh.
  mutating func add(_ work: Work) -> Work? {
    defer { waiting = work }
    guard let waiting else { return nil }
    unseenSinceLast += 1
    counts.unseen += 1
    return waiting
  }

  /// What a refresh changes.
  struct Change: Hashable {
    var shown: Work
    /// The picture that was seen until now.
    var before: Work?
    /// Nanoseconds.
    var latency: Int64
    /// Refreshes since the picture before came, without this.
    var repeats: Int64
    /// Pictures that came since then and were replaced.
    var unseen: Int
  }

  /// The screen swaps its buffers.
  ///
  /// - Parameter arrival: Of a picture's frame, in nanoseconds.
  mutating func refresh(at time: Int64, arrival: (Work) -> Int64) -> Change? {
    guard let work = waiting else { return nil }
    let number = clock.refresh(notBefore: time)
    let change = Change(
      shown: work, before: seen, latency: time - arrival(work),
      repeats: lastRefresh.map { number - $0 - 1 } ?? 0, unseen: unseenSinceLast)
    (seen, waiting, lastRefresh, unseenSinceLast) = (work, nil, number, 0)
    counts.shown += 1
    counts.repeats += Int(change.repeats)
    counts.latencySum += change.latency
    counts.latencyMax = max(counts.latencyMax, change.latency)
    return change
  }
}
