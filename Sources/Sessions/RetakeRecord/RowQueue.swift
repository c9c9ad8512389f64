import RetakeBuffers
import RetakeRuntime

/// A queue of rows. No row is refused before the end. Rows may have payload, which has a budget.
///
/// Any thread may add rows; one thread removes them.
final class RowQueue<Row: Sendable>: Sendable {
  private struct State: Sendable {
    var rows: [Row] = []
    var budget: PayloadBudget
    var isClosed = false
    /// The consumer has taken the last row.
    var hasEnded = false
  }

  private let state: Locked<State>
  /// Rings when rows wait, and when the queue is closed.
  let arrived = ThreadCondition()
  private let relieved = ThreadCondition()

  init(_ budget: PayloadBudget) {
    state = Locked(State(budget: budget))
  }

  /// Requests budget for payload, to be returned with `finish`.
  func offer(_ bytes: Int, nowNanoseconds: Int64 = 0) -> PayloadBudget.Verdict {
    state.withLock { $0.budget.offer(bytes, nowNanoseconds: nowNanoseconds) }
  }

  /// Waits until the budget has enough bytes for payload. Ends because the consumer always finishes
  /// every row that it removes.
  func waitForRoom(_ bytes: Int) {
    while offer(bytes) == .full { relieved.wait() }
  }

  /// After the end the row is discarded, because no thread would remove it.
  ///
  /// - Returns: the number of waiting rows.
  @discardableResult
  func add(_ row: Row) -> Int {
    let count = state.withLock {
      guard !$0.hasEnded else { return 0 }
      $0.rows.append(row)
      return $0.rows.count
    }
    // After the lock is released, so that the thread that wakes up does not wait for it.
    arrived.signal()
    return count
  }

  /// All waiting rows, and whether the queue is closed. If it is closed and no rows wait, the queue
  /// has ended.
  func takeAll() -> (rows: [Row], isClosed: Bool) {
    state.withLock { state in
      defer { state.rows = [] }
      state.hasEnded = state.isClosed && state.rows.isEmpty
      return (state.rows, state.isClosed)
    }
  }

  func finish(_ bytes: Int) {
    state.withLock { $0.budget.finish(bytes) }
    relieved.signal()
  }

  func close() {
    state.withLock { $0.isClosed = true }
    arrived.signal()
  }

  /// Payload that already waits is kept.
  func shrink(to level: MemoryWatch.Level) {
    state.withLock { $0.budget.level = level }
    // The level may have ended, which frees budget.
    relieved.signal()
  }

  var isPressed: Bool { state.withLock { $0.budget.isPressed } }
}
