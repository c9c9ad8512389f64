/// Decides when recorded rows and media become durable: after an interval, or when enough of them
/// have accumulated. The less space the disk has left, the smaller that amount.
struct CommitSchedule: Hashable, Sendable {
  let intervalNanoseconds: Int64
  let rowsMax: Int
  private var oldestNanoseconds: Int64?
  private var rows = 0
  private(set) var bytesMax = bytesRange.upperBound

  /// Payload of one commit. The lower bound suits a disk that is nearly full, the upper bound the
  /// duration of a sync.
  static let bytesRange: ClosedRange<Int64> = 1 << 16...1 << 24

  init(intervalNanoseconds: Int64, rowsMax: Int) {
    (self.intervalNanoseconds, self.rowsMax) = (intervalNanoseconds, rowsMax)
  }

  /// A commit uses only a small part of the free space. The recorder therefore notices that the
  /// disk is filling before it is full. If another program fills the disk, little is lost.
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

  /// When the waiting rows must be durable at the latest; nil when no rows wait.
  var deadlineNanoseconds: Int64? { oldestNanoseconds.map { $0 + intervalNanoseconds } }

  /// - Parameter bytes: Waiting payload.
  func isDue(nowNanoseconds: Int64, bytes: Int64 = 0) -> Bool {
    guard let deadlineNanoseconds else { return false }
    return rows >= rowsMax || bytes >= bytesMax || nowNanoseconds >= deadlineNanoseconds
  }
}
