/// Predicts the largest number of buffers that are held at once in the next window, in 1/65,536 of
/// a buffer. It uses integers only, so that the result is the same on every machine.
struct PoolPredictor: Hashable, Sendable {
  /// The number of windows in the mean of `ar1`.
  static let historyMax = 10

  /// The number of windows that `trend` looks ahead: two predictions in a row are needed before a
  /// pool grows.
  private static let trendWindows: Int64 = 2

  private let kind: PoolSizing.Predictor
  private let alphaPermille: Int64
  /// Peaks of the last windows, oldest first.
  private var history: [Int64] = []
  /// 1/65,536 of a buffer.
  private(set) var predicted: Int64 = 0

  init(_ sizing: PoolSizing) {
    kind = sizing.predictor
    alphaPermille = Int64(sizing.alphaPermille)
  }

  /// - Parameters:
  ///   - window: The window that ends.
  ///   - inUse: Buffers that are held at its end.
  mutating func add(_ window: PoolController.Window, inUse: Int) {
    let now = Int64(Swift.max(window.peak, inUse)) << 16
    let isFirst = history.isEmpty
    if history.count == Self.historyMax { history.removeFirst() }
    history.append(now)
    // The first window has no earlier prediction, so its peak replaces the prediction.
    switch kind {
    case .ewma: mix(now, with: isFirst ? now : predicted)
    case .ar1: mix(now, with: history.reduce(0, +) / Int64(history.count))
    case .trend:
      // Requests minus completions: the number of held buffers grows by this difference per window.
      let growth = Int64(window.requests - window.completed)
      predicted = Swift.max(0, Int64(inUse) + Self.trendWindows * growth) << 16
    }
  }

  private mutating func mix(_ now: Int64, with before: Int64) {
    predicted = (alphaPermille * now + (1_000 - alphaPermille) * before) / 1_000
  }

  func isAbove(percent: Int, of size: Int) -> Bool {
    // pool-resize: both sides are multiplied by 100 and 65,536, so there is no rounding.
    predicted * 100 > Int64(percent) * Int64(size) << 16
  }

  func isBelow(percent: Int, of size: Int) -> Bool {
    predicted * 100 < Int64(percent) * Int64(size) << 16
  }
}
