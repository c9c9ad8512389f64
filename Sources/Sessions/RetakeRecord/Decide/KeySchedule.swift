/// Decides which frames are key frames: at least one per second of the frames' own time.
struct KeySchedule: Hashable, Sendable {
  let intervalNanoseconds: Int64
  private var lastNanoseconds: Int64?

  init(intervalNanoseconds: Int64 = 1_000_000_000) {
    self.intervalNanoseconds = intervalNanoseconds
  }

  /// Prefers slightly early over late, because frames do not fall exactly on the interval.
  func wantsKey(atNanoseconds time: Int64) -> Bool {
    guard let lastNanoseconds else { return true }
    let distance = Int128(time) - Int128(lastNanoseconds)
    // After a leap back the distance would stay small for as long as the leap was. A 32nd of a
    // second is about a frame at 30 frames a second.
    return distance < 0 || distance >= Int128(intervalNanoseconds - intervalNanoseconds / 32)
  }

  mutating func keyMade(atNanoseconds time: Int64) {
    lastNanoseconds = time
  }
}
