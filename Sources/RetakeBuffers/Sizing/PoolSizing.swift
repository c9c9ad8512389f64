/// How an adaptive pool changes its size: by what was held in the windows before, and by what the
/// device says.
///
/// ```swift
/// var sizing = PoolSizing()
/// sizing.predictor = .ar1
/// sizing.off = [.memory]
/// ```
public struct PoolSizing: Hashable, Sendable {
  /// How the most buffers held at once in the next window are foreseen.
  public enum Predictor: String, Hashable, Sendable, CaseIterable {
    /// alpha · now + (1 − alpha) · the prediction before.
    case ewma
    /// alpha · now + (1 − alpha) · the mean of the last ten windows.
    case ar1
  }

  /// What can be switched off, each for itself.
  public enum Policy: String, Hashable, Sendable, CaseIterable {
    case expand
    case shrink
    /// Without it the first prediction is enough to expand or shrink.
    case hysteresis
    case thermal
    case memory
    case breaker
    case recreate
  }

  /// Bounds that no option changes: nanoseconds between two changes of size, and how many there are
  /// in a pool's life.
  public static let spacingNanoseconds: Int64 = 1_000_000_000
  public static let resizesMax = 50

  /// Buffers; only a shortage of memory goes below the first, and only the breaker above the second.
  public var min = 4
  public var max = 12
  public var predictor = Predictor.ewma
  /// How much the newest window counts, in thousandths; 1 to 1,000.
  public var alphaPermille = 300
  public var windowNanoseconds: Int64 = 500_000_000
  /// Percent of the size; a prediction above it asks for one buffer more.
  public var expandAbove = 75
  /// Predictions in a row before the pool grows.
  public var expandAfter = 2
  /// Percent of the size; a prediction below it says that one buffer is too many.
  public var shrinkBelow = 50
  /// Windows in a row before the pool shrinks.
  public var shrinkAfter = 3
  /// Buffers when the device is hot, at most; and how long the pool does not grow then.
  public var thermalSize = 4
  public var thermalHoldNanoseconds: Int64 = 30_000_000_000
  /// Buffers when memory is short.
  public var memorySize = 3
  /// Buffers of the fixed pool that takes over where prediction fails.
  public var breakerSize = 16
  /// Percent of the requests that found no buffer; more of them trip the breaker.
  public var breakerAbove = 10
  /// Over how long; in whole windows.
  public var breakerNanoseconds: Int64 = 5_000_000_000
  /// How long a new buffer takes to be there.
  public var resizeNanoseconds: Int64 = 0
  public var off: Set<Policy> = []

  public init() {}

  public func isOn(_ policy: Policy) -> Bool { !off.contains(policy) }

  /// The fewest buffers that the pool can come to have.
  public var smallest: Int {
    var sizes = [min]
    if isOn(.thermal) { sizes.append(thermalSize) }
    if isOn(.memory) { sizes.append(memorySize) }
    return sizes.min() ?? min
  }

  /// The most.
  public var largest: Int { isOn(.breaker) ? Swift.max(max, breakerSize) : max }

  /// Predictions in a row that are needed.
  func expansionsNeeded() -> Int { isOn(.hysteresis) ? expandAfter : 1 }
  func shrinksNeeded() -> Int { isOn(.hysteresis) ? shrinkAfter : 1 }

  package var breakerWindows: Int { Int(Swift.max(1, breakerNanoseconds / windowNanoseconds)) }
}
