/// Decides which frames are key frames: one a second at least, by the frames' own time.
struct KeySchedule: Hashable, Sendable {
  let intervalNanoseconds: Int64
  private var lastNanoseconds: Int64?

  init(intervalNanoseconds: Int64 = 1_000_000_000) {
    self.intervalNanoseconds = intervalNanoseconds
  }

  /// A little early rather than late, as frames do not come exactly on the second.
  func wantsKey(atNanoseconds time: Int64) -> Bool {
    guard let lastNanoseconds else { return true }
    let distance = Int128(time) - Int128(lastNanoseconds)
    return distance < 0 || distance >= Int128(intervalNanoseconds - intervalNanoseconds / 32)
  }

  mutating func keyMade(atNanoseconds time: Int64) {
    lastNanoseconds = time
  }
}
