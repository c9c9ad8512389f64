/// Decides which payload is accepted while earlier payload is still being processed. Rows do not
/// need a budget.
///
/// Payload counts from when it is accepted until it is finished, so the bounds apply to all of it,
/// in whichever queue or thread it is. It is finished in the order in which it was accepted.
struct PayloadBudget: Hashable, Sendable {
  let countMax: Int
  let bytesMax: Int
  /// No payload is accepted while the oldest piece has waited longer than this, so that accepted
  /// payload is processed soon; nil means no such bound.
  let ageNanosecondsMax: Int64?
  private(set) var bytes = 0
  /// How short of memory the process is.
  var level = MemoryWatch.Level.normal
  /// When each piece was accepted. Bounded by `countMax`.
  private var taken: [Int64] = []

  enum Verdict: Hashable, Sendable {
    case take
    case full
  }

  init(countMax: Int, bytesMax: Int, ageNanosecondsMax: Int64? = nil) {
    precondition(countMax > 0 && bytesMax > 0, "a budget has room")
    (self.countMax, self.bytesMax) = (countMax, bytesMax)
    self.ageNanosecondsMax = ageNanosecondsMax
  }

  var count: Int { taken.count }

  /// A single piece that is larger than the total budget is accepted while no other piece waits.
  mutating func offer(_ size: Int, nowNanoseconds: Int64) -> Verdict {
    if let oldest = taken.first {
      guard count < countMaxNow, bytes + size <= bytesMaxNow else { return .full }
      if let ageNanosecondsMax, nowNanoseconds - oldest > ageNanosecondsMax { return .full }
    }
    taken.append(nowNanoseconds)
    bytes += size
    return .take
  }

  mutating func finish(_ size: Int) {
    precondition(count > 0 && bytes >= size, "only what was taken is finished")
    taken.removeFirst()
    bytes -= size
  }

  /// Whether more than half of the budget is in use.
  var isPressed: Bool { 2 * count > countMaxNow || 2 * bytes > bytesMaxNow }

  private var countMaxNow: Int {
    switch level {
    case .normal: countMax
    case .short: max(1, countMax / 4)
    case .critical: 1
    }
  }

  private var bytesMaxNow: Int { level == .normal ? bytesMax : max(1, bytesMax / 4) }
}
