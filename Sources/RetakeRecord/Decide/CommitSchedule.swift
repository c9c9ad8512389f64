/// Decides when what was recorded becomes durable: after a time, or when much of it has gathered,
/// much being less the less room the disk has.
struct CommitSchedule: Hashable, Sendable {
  let intervalNanoseconds: Int64
  let rowsMax: Int
  private var oldestNanoseconds: Int64?
  private var rows = 0
  private(set) var bytesMax = bytesRange.upperBound

  /// Payload of one commit: small enough for a disk that is nearly full, large enough for a sync.
  static let bytesRange: ClosedRange<Int64> = 1 << 16...1 << 24

  init(intervalNanoseconds: Int64, rowsMax: Int) {
    (self.intervalNanoseconds, self.rowsMax) = (intervalNanoseconds, rowsMax)
  }

  /// No commit takes more than a small part of the room that is left: so the disk's end is seen
  /// before it is reached, and if somebody else fills it, little is lost.
  mutating func setRoom(bytes: Int64) {
    bytesMax = min(max(bytes / 8, Self.bytesRange.lowerBound), Self.bytesRange.upperBound)
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

  /// - Parameter bytes: Payload that waits.
  func isDue(nowNanoseconds: Int64, bytes: Int64 = 0) -> Bool {
    guard let deadlineNanoseconds else { return false }
    return rows >= rowsMax || bytes >= bytesMax || nowNanoseconds >= deadlineNanoseconds
  }
}
