/// Decides when what was recorded becomes durable: after a time, or when much of it has gathered.
struct CommitSchedule: Hashable, Sendable {
  let intervalNanoseconds: Int64
  let rowsMax: Int
  private var oldestNanoseconds: Int64?
  private var rows = 0

  init(intervalNanoseconds: Int64, rowsMax: Int) {
    (self.intervalNanoseconds, self.rowsMax) = (intervalNanoseconds, rowsMax)
  }

  mutating func rowAdded(nowNanoseconds: Int64) {
    if oldestNanoseconds == nil { oldestNanoseconds = nowNanoseconds }
    rows += 1
  }

  mutating func committed() {
    oldestNanoseconds = nil
    rows = 0
  }

  /// When the rows that wait must be durable at the latest; nil when none wait.
  var deadlineNanoseconds: Int64? { oldestNanoseconds.map { $0 + intervalNanoseconds } }

  func isDue(nowNanoseconds: Int64) -> Bool {
    guard let deadlineNanoseconds else { return false }
    return rows >= rowsMax || nowNanoseconds >= deadlineNanoseconds
  }
}
