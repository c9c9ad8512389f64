import RetakeBench
import RetakeCore

/// The articles' statements about heat, next to the figures of the trials.
extension HeatTable {
  /// A row for each statement of the articles; a statement whose trial is missing has no row.
  var statements: [Row] {
    [copies, sustained, runtime, events, deepEvents, throttled].compactMap(\.self)
  }

  /// `of` is the article: 1 is on declarative pipelines, 2 on predictive allocation of frames, 3 on
  /// double-buffered previews.
  typealias Row = (statement: String, article: String, here: String, of: Int)

  private var copies: Row? {
    guard let derived = row("3 copies"), let calibrated = row("3 copies", .calibrated) else {
      return nil
    }
    return (
      "three copies of 1080p BGRA at 30 fps", "720 MB/s, throttles in 90 s",
      "\(TextTable.megabytes(derived.copiedBytesPerSecond)) MB/s; derived: \(hot(derived)); "
        + "calibrated to \(Self.seconds(calibrated.seriousAt)) s, with \(energyRatio) times the energy "
        + "per byte", 1
    )
  }

  private var sustained: Row? {
    guard let derived = row("preview at 60"), let calibrated = row("preview at 60", .calibrated)
    else { return nil }
    return (
      "throttling of a preview at 60 fps with a model", "after 5-10 min",
      "derived: \(minutes(derived)); calibrated: \(minutes(calibrated))", 3
    )
  }

  private var runtime: Row? {
    guard let derived = gain(.derived), let calibrated = gain(.calibrated) else { return nil }
    return (
      "time until it is hot, 30 fps instead of 60", "+40-60 %",
      "derived: \(derived); calibrated: \(calibrated)", 3
    )
  }

  private var events: Row? {
    guard let fixed = row("pool of 8"), let adaptive = row("pool of 4-12") else { return nil }
    return (
      "thermal events in 20 min, adaptive pool", "-41 %",
      "\(fixed.thermalEvents) with a fixed pool, \(adaptive.thermalEvents) with an adaptive one: "
        + "\(hot(fixed))", 2
    )
  }

  private var deepEvents: Row? {
    guard let fixed = row("deep, 8"), let adaptive = row("deep, 4-12") else { return nil }
    return (
      "the same with eight frames in work", "-41 %",
      "\(fixed.thermalEvents) and \(adaptive.thermalEvents) (\(change(fixed, adaptive))); hot for "
        + "\(Self.seconds(fixed.hotNanoseconds)) and \(Self.seconds(adaptive.hotNanoseconds)) s", 2
    )
  }

  private var throttled: Row? {
    guard let full = row("30 fps"), let half = row("15 fps") else { return nil }
    return (
      "p99 with a throttle to 15 fps", "22 -> 18 ms",
      "\(TextTable.milliseconds(full.latencyP99)) -> \(TextTable.milliseconds(half.latencyP99)) ms",
      1
    )
  }

  // MARK: Words

  private var energyRatio: Int64 {
    HeatPhone.femtojoulesPerByteCalibrated / HeatPhone.femtojoulesPerByteDerived
  }

  private func hot(_ row: HeatFigures) -> String {
    row.seriousAt.map { "serious after \(Self.seconds($0)) s" }
      ?? "\(FixedPoint.padded((row.hottestMillidegrees + 50) / 100, digits: 1)) °C at most, never serious"
  }

  private func minutes(_ row: HeatFigures) -> String {
    guard let time = row.seriousAt else { return hot(row) }
    return "\(FixedPoint.padded(Int((time + 3_000_000_000) / 6_000_000_000), digits: 1)) min"
  }

  private func gain(_ phone: HeatPhone) -> String? {
    guard let fast = row("preview at 60", phone), let slow = row("preview at 30", phone) else {
      return nil
    }
    guard let before = fast.seriousAt, let after = slow.seriousAt else { return hot(slow) }
    // Both are multiples of a tick, far below the bounds of 64 bits.
    return "+\((100 * (after - before) + before / 2) / before) %"
  }

  private func change(_ fixed: HeatFigures, _ adaptive: HeatFigures) -> String {
    guard fixed.thermalEvents > 0 else { return "no change" }
    let percent = 100 * (adaptive.thermalEvents - fixed.thermalEvents) / fixed.thermalEvents
    return "\(percent > 0 ? "+" : "")\(percent) %"
  }
}
