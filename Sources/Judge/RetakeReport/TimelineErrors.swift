import RetakeCompare

/// The errors of one quantity over the frames of a track, in bins of their own size from frame 0.
/// After the last bin all frames are equal.
package struct TimelineErrors: Hashable, Sendable, Codable {
  /// For example `boxes.position`.
  package var measure: String
  package var unit: String?
  /// The error that the rule allows.
  package var allowed: Double
  package var framesPerBin: Int
  /// The largest error of each bin.
  package var largest: [Double]
  /// The smallest error of each bin; empty if it equals the largest.
  package var least: [Double]

  package init(
    measure: String, unit: String? = nil, allowed: Double, framesPerBin: Int = 1,
    largest: [Double], least: [Double] = []
  ) {
    precondition(framesPerBin > 0, "a bin holds frames")
    self.measure = measure
    self.unit = unit
    self.allowed = allowed
    self.framesPerBin = framesPerBin
    self.largest = largest
    self.least = least
  }

  /// The same errors in half as many bins.
  func halved() -> TimelineErrors {
    func pairs(_ values: [Double], _ pick: (Double, Double) -> Double) -> [Double] {
      stride(from: 0, to: values.count, by: 2).map { place in
        // After the last bin there is no error.
        pick(values[place], place + 1 < values.count ? values[place + 1] : 0)
      }
    }
    var half = self
    half.framesPerBin *= 2
    half.largest = pairs(largest, max)
    half.least = pairs(least.isEmpty ? largest : least, min)
    return half
  }
}

extension TimelineErrors {
  /// The most curves of one track.
  static let curvesMax = 6

  /// The curves of one track. The curve closest to its tolerance comes first.
  static func all(_ curves: [ErrorCurve], track: Int) -> [TimelineErrors] {
    let own = curves.filter { $0.track == track }
    let order = own.indices.sorted { (-own[$0].tightness, $0) < (-own[$1].tightness, $1) }
    return order.prefix(curvesMax).map { TimelineErrors(own[$0]) }
  }

  private init(_ curve: ErrorCurve) {
    self.init(
      measure: "\(curve.sink).\(curve.quantity)",
      unit: curve.isShare ? "of the allowed" : curve.quantity == "position" ? "px" : nil,
      allowed: curve.allowed, framesPerBin: curve.framesPerBin,
      largest: curve.largest.map(Self.short),
      // With one frame in a bin the least is the largest. It need not be in the page twice.
      least: curve.framesPerBin == 1 ? [] : curve.least.map(Self.short))
  }

  /// Rounded to four digits, which is all that a curve can show.
  private static func short(_ value: Double) -> Double {
    guard value.isFinite, value != 0 else { return value }
    var scale = 1.0
    // Bounded by the exponent range of a Double.
    while value.magnitude * scale < 1_000, scale < 1e12 { scale *= 10 }
    return (value * scale).rounded() / scale
  }
}

extension ErrorCurve {
  fileprivate var tightness: Double {
    let worst = largest.max() ?? 0
    return allowed > 0 ? worst / allowed : worst > 0 ? .infinity : 0
  }
}
