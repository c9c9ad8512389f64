import RetakeCore

/// Decides when drops last, from the times that it is given.
///
/// The span is counted in parts, so that the memory is bounded at any rate of frames. It moves by
/// one part at a time.
struct DropAlarmStateMachine: Hashable, Sendable {
  /// A beginning or an end of an alarm, with the counts of `DropAlarm.spanNanoseconds`.
  struct Change: Hashable, Sendable {
    var hasEnded: Bool
    var atNanoseconds: Int64
    var spanNanoseconds: Int64
    var counts: Counts
  }

  struct Counts: Hashable, Sendable {
    var offered = 0
    var dropped = 0
    var results = 0

    mutating func add(_ other: Counts) {
      offered += other.offered
      dropped += other.dropped
      results += other.results
    }
  }

  private struct Alarm: Hashable, Sendable {
    var begun: Int64
    /// Since the beginning, and in the span before it.
    var counts: Counts
  }

  private static let quarters = 4
  private static let partsPerQuarter = 5
  private static let partCount = quarters * partsPerQuarter

  private let rule: DropAlarmRule
  private let partNanoseconds: Int64
  /// The newest last.
  private var parts: [Counts] = [Counts()]
  /// The number of the newest part since the first frame.
  private var newest: Int64 = 0
  private var first: Int64?
  private var alarm: Alarm?

  init(_ rule: DropAlarmRule) {
    precondition(rule.span > .zero, "the span of an alarm is longer than nothing")
    precondition(
      rule.endsAtPercent < rule.beginsAtPercent, "an alarm ends at a lower share than it begins at")
    self.rule = rule
    partNanoseconds = max(1, rule.span.nanoseconds / Int64(Self.partCount))
  }

  /// A frame was offered.
  ///
  /// - Parameter time: In nanoseconds, on any clock, not before the time of an earlier call.
  mutating func offered(isDropped: Bool, at time: Int64) -> Change? {
    let start = first ?? time
    first = start
    advance(to: (time - start) / partNanoseconds)
    add(Counts(offered: 1, dropped: isDropped ? 1 : 0))
    return change(at: time - start)
  }

  /// The vision pipeline returned the results of a frame. Before the first frame they do not count.
  mutating func foundResult() {
    if first != nil { add(Counts(results: 1)) }
  }

  private mutating func add(_ counts: Counts) {
    parts[parts.count - 1].add(counts)
    alarm?.counts.add(counts)
  }

  private mutating func advance(to part: Int64) {
    // Bounded: after as many empty parts as the span has, all earlier parts are removed.
    for _ in 0..<min(max(0, part - newest), Int64(Self.partCount)) { parts.append(Counts()) }
    parts.removeFirst(max(0, parts.count - Self.partCount))
    newest = max(newest, part)
  }

  private mutating func change(at time: Int64) -> Change? {
    let counts = parts.reduce(into: Counts()) { $0.add($1) }
    if let open = alarm {
      guard counts.dropped * 100 <= counts.offered * rule.endsAtPercent else { return nil }
      alarm = nil
      return Change(
        hasEnded: true, atNanoseconds: time, spanNanoseconds: time - open.begun,
        counts: open.counts)
    }
    guard counts.dropped * 100 >= counts.offered * rule.beginsAtPercent,
      quartersWithDrops >= Self.quarters - 1
    else { return nil }
    let span = min(time, rule.span.nanoseconds)
    alarm = Alarm(begun: time - span, counts: counts)
    return Change(hasEnded: false, atNanoseconds: time, spanNanoseconds: span, counts: counts)
  }

  private var quartersWithDrops: Int {
    let missing = Self.partCount - parts.count
    return (0..<Self.quarters).count { quarter in
      (0..<Self.partsPerQuarter).contains { part in
        let index = quarter * Self.partsPerQuarter + part - missing
        return parts.indices.contains(index) && parts[index].dropped > 0
      }
    }
  }
}
