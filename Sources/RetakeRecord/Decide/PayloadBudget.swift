/// Decides which payload is taken in while earlier payload is still on its way. Rows are not asked.
///
/// Payload counts from the moment it is taken until it was worked off, so the bound holds for all
/// of it, wherever it waits.
struct PayloadBudget: Hashable, Sendable {
  let countMax: Int
  let bytesMax: Int
  private(set) var count = 0
  private(set) var bytes = 0

  enum Verdict: Hashable, Sendable {
    case take
    case full
  }

  init(countMax: Int, bytesMax: Int) {
    precondition(countMax > 0 && bytesMax > 0, "a budget has room")
    (self.countMax, self.bytesMax) = (countMax, bytesMax)
  }

  /// One piece that is larger than the whole budget is taken while nothing else waits.
  mutating func offer(_ size: Int) -> Verdict {
    guard count == 0 || (count < countMax && bytes + size <= bytesMax) else { return .full }
    count += 1
    bytes += size
    return .take
  }

  mutating func finish(_ size: Int) {
    precondition(count > 0 && bytes >= size, "only what was taken is finished")
    count -= 1
    bytes -= size
  }

  /// More waits than the half of what may.
  var isPressed: Bool { 2 * count > countMax || 2 * bytes > bytesMax }
}
