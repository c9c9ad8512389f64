/// Durations of a long run in bounded memory: at first all of them, then every second one, and so
/// on.
struct FigureSamples: Hashable, Sendable {
  /// Half an hour at 60 per second, before the first value is dropped.
  static let countMax = 1 << 17

  private(set) var values: [Int64] = []
  private(set) var most: Int64 = 0
  private var stride = 1
  private var seen = 0

  mutating func add(_ nanoseconds: Int64) {
    // Kept separately, because the longest value may be among the dropped values.
    most = seen == 0 ? nanoseconds : max(most, nanoseconds)
    defer { seen += 1 }
    guard seen % stride == 0 else { return }
    if values.count == Self.countMax {
      // Every second value and not the last values, so that they stay spread over the run.
      values = values.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      stride *= 2
      guard seen % stride == 0 else { return }
    }
    values.append(nanoseconds)
  }

  /// A copy with its own memory. A shared array would be copied by the next caller of `add`, which
  /// is on the camera's thread.
  var detached: FigureSamples {
    var copy = self
    copy.values = values.map { $0 }
    return copy
  }

  /// Nearest ranks; `nil` without samples.
  var spread: WindowFigures.Spread? {
    guard !values.isEmpty else { return nil }
    let sorted = values.sorted()
    func rank(_ percent: Int) -> Int64 {
      sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
    }
    return WindowFigures.Spread(
      medianNanoseconds: rank(50), p99Nanoseconds: rank(99), mostNanoseconds: most)
  }
}
