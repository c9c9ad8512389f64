/// Decides which payload is taken in while earlier payload is still on its way. Rows are not asked.
///
/// Payload counts from the moment it is taken until it was worked off, so the bounds hold for all
/// of it, wherever it waits. It is worked off in the order in which it was taken.
struct PayloadBudget: Hashable, Sendable {
  let countMax: Int
  let bytesMax: Int
  /// Nothing more is taken while the oldest piece waits longer, so that what is taken is worked
  /// off soon; nil has no such bound.
  let ageNanosecondsMax: Int64?
  private(set) var bytes = 0
  /// How short the process is of memory.
  var level = MemoryWatch.Level.normal
  /// When each piece was taken. Bounded by `countMax`.
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

  /// One piece that is larger than the whole budget is taken while nothing else waits.
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

  /// More waits than the half of what may.
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
