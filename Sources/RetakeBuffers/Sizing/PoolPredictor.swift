/// Predicts the largest number of buffers that are held at once in the next window, in 1/65,536 of
/// a buffer. It uses integers only, so that the result is the same on every machine.
struct PoolPredictor: Hashable, Sendable {
  /// The number of windows over which `ar1` takes the mean.
  static let historyMax = 10

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

  mutating func add(peak: Int) {
    let now = Int64(peak) << 16
    let isFirst = history.isEmpty
    if history.count == Self.historyMax { history.removeFirst() }
    history.append(now)
    // The first window has no prediction before it, so its own peak takes that place.
    let before =
      switch kind {
      case .ewma: isFirst ? now : predicted
      case .ar1: history.reduce(0, +) / Int64(history.count)
      }
    predicted = (alphaPermille * now + (1_000 - alphaPermille) * before) / 1_000
  }

  func isAbove(percent: Int, of size: Int) -> Bool {
    // pool-resize: both sides are multiplied by 100 and 65,536, so nothing is rounded.
    predicted * 100 > Int64(percent) * Int64(size) << 16
  }

  func isBelow(percent: Int, of size: Int) -> Bool {
    predicted * 100 < Int64(percent) * Int64(size) << 16
  }
}
