import RetakeBuffers
import RetakeRuntime

/// A queue of rows, none of which is ever refused, some with payload, which has a budget.
///
/// One thread puts in, one takes out.
final class RowQueue<Row: Sendable>: Sendable {
  private struct State: Sendable {
    var rows: [Row] = []
    var budget: PayloadBudget
    var isClosed = false
  }

  private let state: Locked<State>
  /// Rings when there is something to take, and when the queue is closed.
  let arrived = Bell()
  private let relieved = Bell()

  init(_ budget: PayloadBudget) {
    state = Locked(State(budget: budget))
  }

  /// Asks for room for payload, to be given back with `finish`.
  func offer(_ bytes: Int, nowNanoseconds: Int64 = 0) -> PayloadBudget.Verdict {
    state.withLock { $0.budget.offer(bytes, nowNanoseconds: nowNanoseconds) }
  }

  /// Waits until there is room for payload. Ends because the taker always finishes what it takes.
  func waitForRoom(_ bytes: Int) {
    while offer(bytes) == .full { relieved.wait() }
  }

  /// - Returns: how many rows wait.
  @discardableResult
  func add(_ row: Row) -> Int {
    let count = state.withLock {
      $0.rows.append(row)
      return $0.rows.count
    }
    arrived.ring()
    return count
  }

  /// All rows that wait, and whether more may come.
  func takeAll() -> (rows: [Row], isClosed: Bool) {
    state.withLock { state in
      defer { state.rows = [] }
      return (state.rows, state.isClosed)
    }
  }

  func finish(_ bytes: Int) {
    state.withLock { $0.budget.finish(bytes) }
    relieved.ring()
  }

  func close() {
    state.withLock { $0.isClosed = true }
    arrived.ring()
  }

  /// Payload that waits already stays.
  func shrink(to level: MemoryWatch.Level) {
    state.withLock { $0.budget.level = level }
    relieved.ring()
  }

  var isPressed: Bool { state.withLock { $0.budget.isPressed } }
}
