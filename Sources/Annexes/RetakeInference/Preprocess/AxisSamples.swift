/// The two samples of a row or column that each new sample is made of, and their weights.
struct AxisSamples: Sendable {
  /// One new sample: `(a × weightA + b × weightB) / 2048`.
  struct Pair: Hashable, Sendable {
    var a: Int32
    var b: Int32
    var weightA: Int32
    var weightB: Int32
  }

  /// The sum of two weights: 11 bits.
  static let one: Int32 = 2_048

  let pairs: [Pair]

  /// - Parameter keepsEdgeWeights: At an edge both samples are the same sample. Along a row, OpenCV
  ///   then multiplies it by the sum of both weights; along a column, by each weight, which rounds
  ///   differently.
  init(
    from old: Int, to new: Int, interpolation: Interpolation, keepsEdgeWeights: Bool
  ) {
    // Twice rounded, as in OpenCV, which is given the inverse.
    let step = 1 / (Double(new) / Double(old))
    pairs = (0..<new).map { index in
      switch interpolation {
      case .nearest:
        let nearest = Int32(min(old - 1, Int((Double(index) * step).rounded(.down))))
        return Pair(a: nearest, b: nearest, weightA: Self.one, weightB: 0)
      case .bilinear:
        return Self.bilinear(index, step, last: Int32(old - 1), keepsEdgeWeights)
      }
    }
  }

  /// As OpenCV's `INTER_LINEAR` for 8-bit samples: pixel centers are at halves, the position is
  /// rounded to 32 bits, and weights are rounded half to even to 11 bits
  /// (`INTER_RESIZE_COEF_BITS`, modules/imgproc/src/resize.cpp).
  private static func bilinear(
    _ index: Int, _ step: Double, last: Int32, _ keepsEdgeWeights: Bool
  ) -> Pair {
    let position = Float((Double(index) + 0.5) * step - 0.5)
    let whole = position.rounded(.down)
    let fraction = position - whole
    let first = Int32(whole)
    var pair = Pair(
      a: min(last, max(0, first)), b: min(last, max(0, first + 1)),
      weightA: Int32(((1 - fraction) * Float(one)).rounded(.toNearestOrEven)),
      weightB: Int32((fraction * Float(one)).rounded(.toNearestOrEven)))
    if pair.a == pair.b, !keepsEdgeWeights { (pair.weightA, pair.weightB) = (one, 0) }
    return pair
  }
}
