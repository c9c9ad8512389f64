/// Durations of a long run in bounded memory: all of them at first, then every second one, and so on.
struct FigureSamples: Hashable, Sendable {
  /// Half an hour at 60 a second before the first is left out.
  static let countMax = 1 << 17

  private(set) var values: [Int64] = []
  private(set) var most: Int64 = 0
  private var stride = 1
  private var seen = 0

  mutating func add(_ nanoseconds: Int64) {
    most = seen == 0 ? nanoseconds : max(most, nanoseconds)
    defer { seen += 1 }
    guard seen % stride == 0 else { return }
    if values.count == Self.countMax {
      values = values.enumerated().filter { $0.offset % 2 == 0 }.map(\.element)
      stride *= 2
      guard seen % stride == 0 else { return }
    }
    values.append(nanoseconds)
  }

  /// The same in memory of its own: what is shared is copied by whoever adds next, and that is a camera's
  /// thread.
  var detached: FigureSamples {
    var copy = self
    copy.values = values.map { $0 }
    return copy
  }

  /// The nearest rank; `nil` without samples.
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
