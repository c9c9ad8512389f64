import RetakeCore

/// The scalars of a sink, from the first differing frame on. If a stage has become slower, they
/// show the same signal some frames later.
struct ScalarSeries {
  /// The most frames that are used, from the first difference on.
  static let framesMax = 256
  /// The fewest frames from which a lag can be determined.
  static let framesMin = 24
  /// The most scalars of one sink that are used.
  static let namesMax = 16

  private struct Series {
    var golden: [Double] = []
    var actual: [Double] = []
  }

  private var names: [String] = []
  private var series: [Series] = []
  private var isOver = false

  /// Adds both values of one frame. A series begins at a difference.
  mutating func add(_ name: String, _ golden: FixedDecimal, _ actual: FixedDecimal) {
    guard !isOver, golden.units.isFinite, actual.units.isFinite else { return }
    let place: Int
    if let known = names.firstIndex(of: name) {
      place = known
    } else {
      guard golden != actual, names.count < Self.namesMax else { return }
      place = names.count
      names.append(name)
      series.append(Series())
    }
    guard series[place].golden.count < Self.framesMax else { return }
    series[place].golden.append(golden.value)
    series[place].actual.append(actual.value)
  }

  var isEmpty: Bool { names.isEmpty }

  /// Ends the series: from here on both sides are equal for many frames.
  mutating func end() {
    if !names.isEmpty { isOver = true }
  }

  /// A note for each scalar that equals the golden's with a lag.
  var notes: [String] {
    zip(names, series).compactMap { name, series in
      guard series.golden.count >= Self.framesMin else { return nil }
      let found = SignalDifference(golden: series.golden, actual: series.actual, reach: 16)
      guard found.isShifted else { return nil }
      let frames = counted(found.lag.magnitude, "frame")
      return "\(name) is the golden's, \(frames) \(found.lag > 0 ? "later" : "earlier")"
    }
  }
}
