import RetakeCore

/// Measures errors against what a rule allows: the largest of each quantity, and their drift.
struct ErrorMeter {
  enum Quantity: Int, CaseIterable {
    case position, score, scalar

    var name: String {
      switch self {
      case .position: "position"
      case .score: "score"
      case .scalar: "scalar"
      }
    }
  }

  /// One error in the unit of what was measured; NaN against a number is infinite.
  struct Measured {
    var error: Double
    var allowed: Double
    var isAllowed: Bool

    func isWorse(than other: Measured) -> Bool { error > other.error }

    func text(decimals: UInt8) -> String {
      FixedDecimal(error, decimals: Int(decimals)).text
    }
  }

  private let allowed: [Double]
  private var largest: [(error: Double, frame: FrameID?)]
  private(set) var drift = DriftMeter()

  init(rule: SinkRule) {
    allowed = rule.mode == .exact ? [0, 0, 0] : [rule.position, rule.score, rule.scalar]
    largest = Quantity.allCases.map { _ in (0, nil) }
  }

  mutating func measure(
    _ quantity: Quantity, _ golden: FixedDecimal, _ actual: FixedDecimal, _ frame: FrameID
  ) -> Measured {
    if golden == actual {
      return Measured(error: 0, allowed: allowed[quantity.rawValue], isAllowed: true)
    }
    let measured = judge(golden, actual, allowed[quantity.rawValue])
    note(quantity, measured.error, frame)
    if quantity == .scalar { drift.add(0, actual.value - golden.value, frame) }
    return measured
  }

  /// The largest error of x, y, width and height.
  mutating func measurePosition(
    _ golden: DetectionLine, _ actual: DetectionLine, _ frame: FrameID
  ) -> Measured {
    var worst = Measured(error: 0, allowed: allowed[0], isAllowed: true)
    compareSide(0, golden.x, actual.x, frame, &worst)
    compareSide(1, golden.y, actual.y, frame, &worst)
    compareSide(2, golden.width, actual.width, frame, &worst)
    compareSide(3, golden.height, actual.height, frame, &worst)
    note(.position, worst.error, frame)
    return worst
  }

  private mutating func compareSide(
    _ axis: Int, _ golden: FixedDecimal, _ actual: FixedDecimal, _ frame: FrameID,
    _ worst: inout Measured
  ) {
    guard golden != actual else { return }
    let measured = judge(golden, actual, allowed[0])
    if measured.isWorse(than: worst) { worst = measured }
    drift.add(axis, actual.value - golden.value, frame)
  }

  /// In quanta, so that a tolerance of 0.3 allows three steps of 0.1 whatever their bits are.
  private func judge(
    _ golden: FixedDecimal, _ actual: FixedDecimal, _ allowed: Double
  ) -> Measured {
    let steps = (golden.units - actual.units).magnitude
    guard steps.isFinite, golden.decimals == actual.decimals else {
      return Measured(error: .infinity, allowed: allowed, isAllowed: false)
    }
    let quantum = FixedDecimal(units: 1, like: golden).value
    let isAllowed = steps <= (allowed / quantum) * (1 + 1e-9)
    return Measured(
      error: FixedDecimal(units: steps, like: golden).value, allowed: allowed,
      isAllowed: isAllowed)
  }

  private mutating func note(_ quantity: Quantity, _ error: Double, _ frame: FrameID) {
    if error > largest[quantity.rawValue].error { largest[quantity.rawValue] = (error, frame) }
  }

  func headroom(sink: String) -> [ErrorHeadroom] {
    Quantity.allCases.map { quantity in
      let (error, frame) = largest[quantity.rawValue]
      return ErrorHeadroom(
        sink: sink, quantity: quantity.name, largest: error.isFinite ? error : nil,
        allowed: allowed[quantity.rawValue], frame: frame)
    }
  }
}
