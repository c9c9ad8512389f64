/// The pending sleeps, deliveries and runs of a scope. The timeline decides on the next step; the
/// scope performs it.
struct Timeline {
  typealias Instant = VirtualClock.Instant
  typealias Wake = CheckedContinuation<Void, any Error>

  /// Delivers elements without a task.
  struct Feed: Sendable {
    /// Delivers the element that is due, and returns the instant of the next delivery; `nil` after
    /// the last.
    var deliver: @Sendable () -> Instant?
    var end: @Sendable () -> Void
  }

  /// The driver's next action when no job can run.
  enum Step {
    case wake(Wake)
    case deliver(order: Int, Feed)
    /// The awaited instant has come; `nil` if no sleep and no delivery was pending.
    case resume(CheckedContinuation<Instant?, Never>, Instant?)
    /// Time would pass the last permitted instant.
    case beyond
    /// No sleep, no delivery and no run is pending.
    case idle
  }

  private struct Sleep {
    var info: PendingSleep
    var wake: Wake?
    var isCancelled = false
  }

  /// An awaited instant; `nil` for the next instant at which a sleep or a delivery is due.
  private struct Run {
    var until: Instant?
    var continuation: CheckedContinuation<Instant?, Never>
  }

  private(set) var now = Instant.zero
  private var due = DueQueue()
  /// By order; a lookup, never iterated in an order that matters.
  private var sleeps: [Int: Sleep] = [:]
  private var feeds: [Int: Feed] = [:]
  private var runs: [Run] = []
  private var ordersMade = 0

  var pendingSleeps: [PendingSleep] {
    let waiting = sleeps.filter { $0.value.wake != nil }.sorted {
      ($0.value.info.until, $0.key) < ($1.value.info.until, $1.key)
    }
    return waiting.map(\.value.info)
  }

  private mutating func makeOrder() -> Int {
    ordersMade += 1
    return ordersMade
  }

  // MARK: - Sleeps

  /// The number of a sleep that is about to begin.
  mutating func newSleep(name: String, until deadline: Instant) -> Int {
    let order = makeOrder()
    sleeps[order] = Sleep(info: PendingSleep(name: name, since: now, until: deadline))
    return order
  }

  /// Returns false if the sleep was cancelled before it began.
  mutating func begin(_ order: Int, _ wake: Wake) -> Bool {
    guard let sleep = sleeps[order], !sleep.isCancelled else {
      sleeps[order] = nil
      return false
    }
    sleeps[order]?.wake = wake
    due.insert(.wake, at: max(sleep.info.until, now), order: order)
    return true
  }

  /// Returns the continuation to resume, if the sleep had begun and not woken.
  mutating func cancel(_ order: Int) -> Wake? {
    guard let sleep = sleeps[order] else { return nil }
    guard let wake = sleep.wake else {
      sleeps[order]?.isCancelled = true
      return nil
    }
    sleeps[order] = nil
    return wake
  }

  // MARK: - Feeds and runs

  mutating func add(feed: Feed, first: Instant) {
    let order = makeOrder()
    feeds[order] = feed
    due.insert(.arrival, at: max(first, now), order: order)
  }

  /// Puts a feed back, in its old order.
  mutating func again(order: Int, at instant: Instant?) {
    guard let instant else {
      feeds[order] = nil
      return
    }
    due.insert(.arrival, at: max(instant, now), order: order)
  }

  /// Removes all feeds and returns them in the order in which they were added.
  mutating func takeFeeds() -> [Feed] {
    defer { feeds = [:] }
    return feeds.sorted { $0.key < $1.key }.map(\.value)
  }

  mutating func run(until: Instant?, _ continuation: CheckedContinuation<Instant?, Never>) {
    runs.append(Run(until: until, continuation: continuation))
  }

  // MARK: - Deciding

  /// Returns the next step when no job can run; time advances to it, but not beyond `last`.
  mutating func next(notBeyond last: Instant) -> Step {
    let event = nextEvent()
    resolveRuns(next: event?.instant)
    let target = runs.indices.min { (runs[$0].until ?? now, $0) < (runs[$1].until ?? now, $1) }
    let awaited = target.map { runs[$0].until ?? now }
    if let event, event.instant <= (awaited ?? .init(nanoseconds: .max)) {
      guard event.instant <= last else { return .beyond }
      now = event.instant
      return take(event)
    }
    guard let target, let awaited else { return .idle }
    guard awaited <= last else { return .beyond }
    now = max(now, awaited)
    return resume(runs.remove(at: target), nothing: event == nil)
  }

  private func resume(_ run: Run, nothing: Bool) -> Step {
    .resume(run.continuation, run.until == nil && nothing ? nil : now)
  }

  /// Runs to the next event learn which instant that is; without an event they end at once.
  private mutating func resolveRuns(next: Instant?) {
    for index in runs.indices where runs[index].until == nil { runs[index].until = next }
    for index in runs.indices {
      if let until = runs[index].until { runs[index].until = max(until, now) }
    }
  }

  /// The earliest entry that is still wanted; drops cancelled sleeps and ended feeds.
  private mutating func nextEvent() -> DueQueue.Entry? {
    // Ends: each round removes one entry.
    while let first = due.first {
      if sleeps[first.order]?.wake != nil || feeds[first.order] != nil { return first }
      due.removeFirst()
    }
    return nil
  }

  private mutating func take(_ event: DueQueue.Entry) -> Step {
    due.removeFirst()
    if let feed = feeds[event.order] { return .deliver(order: event.order, feed) }
    guard let wake = sleeps.removeValue(forKey: event.order)?.wake else {
      preconditionFailure("nextEvent returns what is wanted")
    }
    return .wake(wake)
  }
}
