import RetakeCore
import RetakeGraph

/// A double-buffered screen. One image is shown. The newest image that arrived waits for the next
/// refresh, and replaces an image that waited before it.
struct ScreenStateMachine: Hashable, Sendable {
  let clock: ScreenClock
  private(set) var counts: ScreenCounts
  private var seen: Work?
  private var waiting: Work?
  /// The refresh at which the shown image appeared.
  private var lastRefresh: Int64?
  private var unseenSinceLast = 0

  init(clock: ScreenClock, sink: String) {
    self.clock = clock
    counts = ScreenCounts(sink: sink)
  }

  /// An image arrives.
  ///
  /// - Returns: The image that it replaces, which will never be shown. If it is `nil`, the caller
  ///   must schedule the screen's next refresh.
  mutating func add(_ work: Work) -> Work? {
    // screen-refresh: one image waits, and a newer one replaces it.
    defer { waiting = work }
    guard let waiting else { return nil }
    unseenSinceLast += 1
    counts.unseen += 1
    return waiting
  }

  /// The result of a refresh that changes the image.
  struct Change: Hashable {
    var shown: Work
    /// The image that was shown until now.
    var before: Work?
    /// Nanoseconds.
    var latency: Int64
    /// Refreshes since the image before appeared, without this one.
    var repeats: Int64
    /// Images that arrived since then and were replaced.
    var unseen: Int
  }

  /// The screen swaps its buffers.
  ///
  /// - Parameter arrival: Returns the arrival of an image's frame, in nanoseconds.
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
