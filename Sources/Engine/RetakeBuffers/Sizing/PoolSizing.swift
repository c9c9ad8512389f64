/// How an adaptive pool changes its size, depending on the buffers held in earlier windows and on
/// the state of the device.
///
/// ```swift
/// var sizing = PoolSizing()
/// sizing.predictor = .ar1
/// sizing.off = [.memory]
/// ```
public struct PoolSizing: Hashable, Sendable {
  /// How the largest number of buffers held at once in the next window is predicted.
  public enum Predictor: String, Hashable, Sendable, CaseIterable {
    /// alpha · now + (1 − alpha) · the previous prediction.
    case ewma
    /// alpha · now + (1 − alpha) · the mean of the last ten windows.
    case ar1
    /// Buffers held at the window's end + 2 · (requests − completions of the window).
    case trend
  }

  /// Parts that can be switched off individually.
  public enum Policy: String, Hashable, Sendable, CaseIterable {
    case expand
    case shrink
    /// Without it, a single prediction is enough to expand or shrink.
    case hysteresis
    case thermal
    case memory
    case breaker
    case recreate
  }

  /// The shortest time between two changes of size: a bound that no option changes.
  package static let spacingNanoseconds: Int64 = 1_000_000_000
  /// The number of changes of size during a pool's life: a bound that no option changes.
  package static let resizesMax = 50

  /// The smallest number of buffers. Only heat or a shortage of memory goes below it.
  public var min = 4
  /// The largest number of buffers. Only the breaker goes above it.
  public var max = 12
  /// `ewma` by default.
  public var predictor = Predictor.ewma
  /// The weight of the newest window, in thousandths; 1 to 1,000. `trend` has no weights.
  public var alphaPermille = 300
  /// The length of a window, 10 ms to a minute.
  public var windowNanoseconds: Int64 = 500_000_000
  /// Percent of the size; a prediction above it requests one more buffer.
  public var expandAbove = 75
  /// Consecutive predictions before the pool grows.
  public var expandAfter = 2
  /// Percent of the size; a prediction below it means that one buffer is too many.
  public var shrinkBelow = 50
  /// Consecutive windows before the pool shrinks.
  public var shrinkAfter = 3
  /// The largest number of buffers when the device gets hot.
  public var thermalSize = 4
  /// How long the pool does not grow after the device got hot.
  public var thermalHoldNanoseconds: Int64 = 30_000_000_000
  /// The largest number of buffers when memory is short.
  public var memorySize = 3
  /// Buffers of the fixed pool that replaces the adaptive pool if prediction fails.
  public var breakerSize = 16
  /// Percent of the requests that found no buffer; a larger percentage trips the breaker.
  public var breakerAbove = 10
  /// The time over which requests are counted; rounded down to full windows.
  public var breakerNanoseconds: Int64 = 5_000_000_000
  /// The time until a new buffer is available.
  public var resizeNanoseconds: Int64 = 0
  /// The parts that are switched off. Empty, the default, leaves all of them on.
  public var off: Set<Policy> = []

  /// All options have their defaults, which docs/pools.md lists. The validation of a pipeline
  /// checks the ranges of changed options; a `BufferPool` with one out of its range ends the
  /// process.
  public init() {}

  /// Whether `off` does not contain the policy.
  func isOn(_ policy: Policy) -> Bool { !off.contains(policy) }

  /// The smallest number of buffers that the pool can have.
  package var smallest: Int {
    var sizes = [min]
    if isOn(.thermal) { sizes.append(thermalSize) }
    if isOn(.memory) { sizes.append(memorySize) }
    return sizes.min() ?? min
  }

  /// The largest number of buffers that the pool can have.
  package var largest: Int { isOn(.breaker) ? Swift.max(max, breakerSize) : max }

  /// The number of consecutive predictions that are needed.
  func expansionsNeeded() -> Int { isOn(.hysteresis) ? expandAfter : 1 }
  func shrinksNeeded() -> Int { isOn(.hysteresis) ? shrinkAfter : 1 }

  package var breakerWindows: Int { Int(Swift.max(1, breakerNanoseconds / windowNanoseconds)) }
}

/// The ranges of the options.
extension PoolSizing {
  package struct Problem: Sendable {
    /// The option, as a pipeline's document names it.
    package var key: String
    package var detail: String
    package var advice: String
  }

  /// The first option that is out of its range.
  package var problem: Problem? {
    let ranges: [(String, Int, ClosedRange<Int>)] = [
      ("min", min, 1...4_096), ("max", max, 1...4_096), ("alpha", alphaPermille, 1...1_000),
      ("expandAbove", expandAbove, 1...99), ("expandAfter", expandAfter, 1...100),
      ("shrinkBelow", shrinkBelow, 1...99), ("shrinkAfter", shrinkAfter, 1...100),
      ("thermalSize", thermalSize, 1...4_096), ("memorySize", memorySize, 1...4_096),
      ("breakerSize", breakerSize, 1...4_096), ("breakerAbove", breakerAbove, 0...100),
    ]
    for (key, value, range) in ranges where !range.contains(value) {
      return Problem(
        key: key, detail: "\(key) is \(range.lowerBound) to \(range.upperBound)",
        advice: "Write \(range.lowerBound) to \(range.upperBound)")
    }
    if min > max {
      return Problem(
        key: "max", detail: "a pool's max of \(max) is below its min of \(min)",
        advice: "Write at least \(min)")
    }
    // In between, the same use would ask for one buffer more and for one less.
    if shrinkBelow > expandAbove, isOn(.expand), isOn(.shrink) {
      return Problem(
        key: "shrinkBelow",
        detail: "the pool would shrink below \(shrinkBelow) % of its size, and grow above "
          + "\(expandAbove) %",
        advice: "Write at most \(expandAbove), or a larger expandAbove")
    }
    // The breaker trips because buffers are missing, so it must not reduce the pool.
    if breakerSize < max, isOn(.breaker) {
      return Problem(
        key: "breakerSize", detail: "the breaker's fixed pool is smaller than the max of \(max)",
        advice: "Write at least \(max), or switch the breaker off: \"off\": [\"breaker\"]")
    }
    return timeProblem
  }

  private var timeProblem: Problem? {
    let hour: Int64 = 3_600_000_000_000
    // `window` may still be out of range here, and a range must not begin after its end.
    let window = Swift.min(windowNanoseconds, hour)
    let times: [(String, Int64, ClosedRange<Int64>, String)] = [
      ("window", windowNanoseconds, 10_000_000...60_000_000_000, "10ms to 60s"),
      ("thermalHold", thermalHoldNanoseconds, 0...hour, "0s to 3600s"),
      ("breakerAfter", breakerNanoseconds, window...hour, "a window to 3600s"),
      ("resizeTime", resizeNanoseconds, 0...1_000_000_000, "0s to 1s"),
    ]
    for (key, value, range, words) in times where !range.contains(value) {
      return Problem(key: key, detail: "\(key) is \(words)", advice: "Write \(words)")
    }
    guard breakerWindows <= Self.breakerWindowsMax else {
      return Problem(
        key: "breakerAfter",
        detail: "breakerAfter is \(breakerWindows) windows, and \(Self.breakerWindowsMax) are the "
          + "most", advice: "Write a shorter time, or a longer window")
    }
    return nil
  }

  private static var breakerWindowsMax: Int { 1_000 }
}
