import RetakeCore

/// The scalars of a sink from the first frame on that differs: a stage that became later shows as
/// the same signal, some frames on.
struct ScalarSeries {
  /// Frames that are looked at, from the first difference on.
  static let framesMax = 256
  /// A lag is not told from less.
  static let framesMin = 24
  /// Scalars of one sink that are looked at.
  static let namesMax = 16

  private struct Series {
    var golden: [Double] = []
    var actual: [Double] = []
  }

  private var names: [String] = []
  private var series: [Series] = []
  private var isOver = false

  /// Both values of one frame; series begin at a difference.
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

  /// From here on both are equal for long.
  mutating func end() {
    if !names.isEmpty { isOver = true }
  }

  /// In words, for each scalar that is the golden's with a lag.
  var notes: [String] {
    zip(names, series).compactMap { name, series in
      guard series.golden.count >= Self.framesMin else { return nil }
      let found = SignalDifference(golden: series.golden, actual: series.actual, reach: 16)
      guard found.isShifted else { return nil }
      let frames = found.lag.magnitude == 1 ? "1 frame" : "\(found.lag.magnitude) frames"
      return "\(name) is the golden's, \(frames) \(found.lag > 0 ? "later" : "earlier")"
    }
  }
}
