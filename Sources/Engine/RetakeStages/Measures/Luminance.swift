package import RetakeBuffers
package import RetakeCore
package import RetakeGraph

/// Statistics of a frame's luma, in levels from 0 to 255 of the frame's own range: `mean`, `min`,
/// `max` and `standardDeviation` (of all pixels, not a sample).
///
/// The sums are exact integers, and the divisions and the root are correctly rounded, so every
/// machine computes the same bits.
package struct Luminance: PureStage {
  package static let kind = "luminance"
  package static let summary = "measures mean, min, max and standard deviation of the luma"

  package init() {}

  package init(options: NoOptions) {}

  package func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let sums = frame.luma().luminanceSums()
    return Scalars([
      .init("mean", Double(sums.sum) / Double(sums.count)),
      .init("min", Double(sums.smallest)),
      .init("max", Double(sums.largest)),
      .init("standardDeviation", sums.standardDeviation),
    ])
  }
}

extension PlaneSums {
  /// √(n Σx² − (Σx)²) / n, with an exact radicand.
  fileprivate var standardDeviation: Double {
    // Exact in 128 bits: in floating point the difference of two large products loses its digits.
    let (n, total) = (UInt128(count), UInt128(sum))
    let radicand = n * UInt128(squares) - total * total
    return Double(radicand).squareRoot() / Double(count)
  }
}
