/// Detects when too many requests to a pool find no buffer, over the last windows together.
struct PoolBreaker: Hashable, Sendable {
  private struct Window: Hashable, Sendable {
    var requests: Int
    var stalls: Int
  }

  private let windows: Int
  private let percent: Int
  /// Oldest first; at most `windows`.
  private var last: [Window] = []

  init(_ sizing: PoolSizing) {
    windows = sizing.breakerWindows
    percent = sizing.breakerAbove
  }

  /// - Returns: The requests and stalls, if there are too many stalls.
  mutating func add(requests: Int, stalls: Int) -> (requests: Int, stalls: Int)? {
    if last.count == windows { last.removeFirst() }
    last.append(Window(requests: requests, stalls: stalls))
    // pool-breaker: never before the full period has passed.
    guard last.count == windows else { return nil }
    let asked = last.reduce(0) { $0 + $1.requests }
    let lacking = last.reduce(0) { $0 + $1.stalls }
    return lacking * 100 > asked * percent ? (asked, lacking) : nil
  }

  /// Discards the windows so far.
  mutating func forget() { last = [] }
}
