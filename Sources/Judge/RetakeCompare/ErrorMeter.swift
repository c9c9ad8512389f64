import RetakeCore

/// Measures errors against the limits of a rule: the largest error of each quantity, and the drift.
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

  /// An error in the unit of the measured values; infinite for NaN against a number.
  struct Measured {
    var error: Double
    var allowed: Double
    var isAllowed: Bool

    func isWorse(than other: Measured) -> Bool { error > other.error }

    func text(decimals: UInt8) -> String {
      FixedDecimal(error, decimals: Int(decimals)).text
    }
  }

  /// The error that comes closest to the allowed error, or exceeds it the most.
  private struct Worst {
    var error = 0.0
    var allowed: Double
    var frame: FrameID?
  }

  /// The sum of signed errors, and how many values it is of.
  private struct ErrorSum {
    var sum = SIMD4<Double>.zero
    var count = 0
  }

  /// The errors that one frame adds to the drifts, and its largest error by quantity.
  private struct FrameErrors {
    var boxes = ErrorSum()
    /// On the first axis.
    var scalars = ErrorSum()
    var largest = SIMD4<Double>.zero
  }

  private let isExact: Bool
  private let allowed: [Double]
  /// The largest allowed difference of a scalar, as a fraction of the golden scalar.
  private let relative: Double
  /// By quantity, then by decimals: `allowed` in steps.
  private let allowedSteps: [[Double]]
  /// By decimals: the steps in one unit.
  private let scales: [Double]
  private var worst: [Worst]
  private var current = FrameErrors()
  /// The steps of the errors that drift.
  private var boxStep = 0.0
  private var scalarStep = 0.0
  // Two meters, because pixels and the unit of the scalars cannot be added.
  private var boxDrift = DriftMeter()
  private var scalarDrift = DriftMeter()
  /// By track, then quantity.
  private var curves: [Int: [CurveMeter]] = [:]
  private static let noCurves = Quantity.allCases.map { _ in CurveMeter() }

  init(rule: SinkRule) {
    isExact = rule.mode == .exact
    allowed = isExact ? [0, 0, 0] : [rule.position, rule.score, rule.scalar]
    relative = isExact ? 0 : rule.relative
    let scales = [1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9]
    // The factor makes a tolerance of 0.3 allow three steps of 0.1 in spite of rounding errors.
    allowedSteps = allowed.map { allowed in scales.map { allowed * $0 * (1 + 1e-9) } }
    self.scales = scales
    worst = allowed.map { Worst(allowed: $0) }
  }

  mutating func measure(
    _ quantity: Quantity, _ golden: FixedDecimal, _ actual: FixedDecimal, _ frame: FrameID
  ) -> Measured {
    // A score is not a sample of the drift, which is in pixels or in the unit of the scalars.
    if quantity == .scalar { current.scalars.count += 1 }
    if golden == actual {
      return Measured(error: 0, allowed: allowed[quantity.rawValue], isAllowed: true)
    }
    let measured = judge(quantity, golden, actual)
    note(quantity, measured.error, allowed: measured.allowed, frame)
    // An infinite error would make the line through all windows NaN, and is a separate finding.
    if quantity == .scalar, measured.error.isFinite {
      current.scalars.sum[0] += actual.value - golden.value
      scalarStep = FixedDecimal(units: 1, like: golden).value
    }
    return measured
  }

  /// Judges and records a distance that was computed from rounded positions, in pixels.
  mutating func measure(distance: Double, _ frame: FrameID) -> Measured {
    let most = allowed[Quantity.position.rawValue]
    note(.position, distance, allowed: most, frame)
    return Measured(
      error: distance, allowed: most, isAllowed: !isExact && distance <= most * (1 + 1e-9))
  }

  /// Like `look`, for numbers that are not rounded.
  func look(exact golden: Double, _ actual: Double) -> Measured {
    let error = (golden - actual).magnitude
    let most = max(allowed[Quantity.scalar.rawValue], relative * golden.magnitude)
    return Measured(
      error: error.isFinite ? error : .infinity, allowed: most,
      isAllowed: error <= most * (1 + 1e-9))
  }

  /// Records the error of two numbers that are not rounded. They are no sample of the drift.
  mutating func noteExact(_ golden: Double, _ actual: Double, _ frame: FrameID) {
    let measured = look(exact: golden, actual)
    note(.scalar, measured.error, allowed: measured.allowed, frame)
  }

  /// The largest error of x, y, width and height.
  mutating func measurePosition(
    _ golden: DetectionLine, _ actual: DetectionLine, _ frame: FrameID
  ) -> Measured {
    var worst = Measured(error: 0, allowed: allowed[0], isAllowed: true)
    // A box is one sample of the drift, however many of its sides differ.
    current.boxes.count += 1
    compareSide(0, golden.x, actual.x, &worst)
    compareSide(1, golden.y, actual.y, &worst)
    compareSide(2, golden.width, actual.width, &worst)
    compareSide(3, golden.height, actual.height, &worst)
    note(.position, worst.error, allowed: worst.allowed, frame)
    return worst
  }

  private mutating func compareSide(
    _ axis: Int, _ golden: FixedDecimal, _ actual: FixedDecimal, _ worst: inout Measured
  ) {
    guard golden != actual else { return }
    let measured = judge(.position, golden, actual)
    if measured.isWorse(than: worst) { worst = measured }
    guard measured.error.isFinite else { return }
    current.boxes.sum[axis] += actual.value - golden.value
    boxStep = FixedDecimal(units: 1, like: golden).value
  }

  /// Like `measure`, for a scalar that another measure judges. Records no error.
  func look(_ golden: FixedDecimal, _ actual: FixedDecimal) -> Measured {
    golden == actual
      ? Measured(error: 0, allowed: allowed[2], isAllowed: true) : judge(.scalar, golden, actual)
  }

  private func judge(
    _ quantity: Quantity, _ golden: FixedDecimal, _ actual: FixedDecimal
  ) -> Measured {
    let allowed = allowed[quantity.rawValue]
    let steps = (golden.units - actual.units).magnitude
    // The same number of steps is another value if the steps differ.
    guard steps.isFinite, golden.decimals == actual.decimals else {
      return Measured(error: .infinity, allowed: allowed, isAllowed: false)
    }
    let error = FixedDecimal(units: steps, like: golden).value
    // Compared in steps, which are integers: the difference of two decimals would be rounded.
    let isWithin = steps <= allowedSteps[quantity.rawValue][Int(golden.decimals)]
    let share = quantity == .scalar ? relative * golden.value.magnitude : 0
    return Measured(
      error: error, allowed: max(allowed, share),
      isAllowed: isWithin || error <= share * (1 + 1e-9))
  }

  private mutating func note(
    _ quantity: Quantity, _ error: Double, allowed: Double, _ frame: FrameID
  ) {
    guard error > 0 else { return }
    // With a relative tolerance every number allows another error, and only shares fit one curve.
    let height = quantity == .scalar && relative > 0 ? error / allowed : error
    current.largest[quantity.rawValue] = max(current.largest[quantity.rawValue], height)
    let before = worst[quantity.rawValue]
    // Shares of the tolerance are compared without a division, because the tolerance may be 0.
    let isWorse =
      before.allowed == allowed
      ? error > before.error : error * before.allowed > before.error * allowed
    // Against a row without an error both products may be 0, so the first error is always stored.
    if isWorse || before.frame == nil {
      worst[quantity.rawValue] = Worst(error: error, allowed: allowed, frame: frame)
    }
  }

  /// Adds the errors since the last call to the drift and to the curves, as one frame.
  mutating func endFrame(_ frame: FrameID) {
    for quantity in Quantity.allCases where current.largest[quantity.rawValue] > 0 {
      curves[frame.track, default: Self.noCurves][quantity.rawValue]
        .add(current.largest[quantity.rawValue], at: frame.sequence)
    }
    let (boxes, scalars) = (current.boxes, current.scalars)
    if boxes.count > 0 { boxDrift.add(boxes.sum / Double(boxes.count), frame) }
    if scalars.count > 0 { scalarDrift.add(scalars.sum / Double(scalars.count), frame) }
    current = FrameErrors()
  }

  mutating func noteEqual(frames: Int) {
    boxDrift.addEqual(frames: frames)
    scalarDrift.addEqual(frames: frames)
  }

  /// A drift of at least one step, if no single error exceeded the tolerance. Errors that exceed
  /// it are findings of their own.
  var driftWithinTolerance: (drift: DriftMeter.Drift, first: FrameID?)? {
    let isWithin = [Quantity.position, .scalar].allSatisfy { quantity in
      worst[quantity.rawValue].error <= worst[quantity.rawValue].allowed * (1 + 1e-9)
    }
    guard isWithin else { return nil }
    return [(boxDrift, boxStep), (scalarDrift, scalarStep)]
      .compactMap { meter, step in
        // Less than a step in all can come from rounding.
        guard let drift = meter.largest, drift.total >= step * (1 - 1e-9) else { return nil }
        return (drift, meter.first)
      }
      .max { $0.drift.change < $1.drift.change }
  }

  func headroom(sink: String) -> [ErrorHeadroom] {
    Quantity.allCases.map { quantity in
      let row = worst[quantity.rawValue]
      return ErrorHeadroom(
        sink: sink, quantity: quantity.name, largest: row.error.isFinite ? row.error : nil,
        allowed: row.allowed, frame: row.frame)
    }
  }
}

extension ErrorMeter {
  /// The curves that have an error at any frame, in the order of the tracks.
  func errorCurves(sink: String) -> [ErrorCurve] {
    curves.sorted { $0.key < $1.key }.flatMap { track, own in
      zip(Quantity.allCases, own).compactMap { quantity, meter -> ErrorCurve? in
        guard !meter.isEmpty else { return nil }
        let isShare = quantity == .scalar && relative > 0
        return ErrorCurve(
          sink: sink, quantity: quantity.name, track: track, framesPerBin: meter.framesPerBin,
          largest: meter.largest, least: meter.least,
          allowed: isShare ? 1 : allowed[quantity.rawValue], isShare: isShare)
      }
    }
  }

  /// The signed errors of two detections in steps: the box, and the score. Not finite if the two
  /// cannot be compared.
  @inline(__always)
  static func steps(
    _ golden: DetectionLine, _ actual: DetectionLine
  ) -> (box: SIMD4<Double>, score: Double) {
    let mine = SIMD4(golden.x.units, golden.y.units, golden.width.units, golden.height.units)
    let theirs = SIMD4(actual.x.units, actual.y.units, actual.width.units, actual.height.units)
    // `allows` and `note` use one scale for all four sides, so their steps must be the same.
    let areAlike =
      golden.x.decimals == actual.x.decimals && golden.y.decimals == actual.y.decimals
      && golden.width.decimals == actual.width.decimals
      && golden.height.decimals == actual.height.decimals
      && golden.x.decimals == golden.y.decimals && golden.x.decimals == golden.width.decimals
      && golden.x.decimals == golden.height.decimals
      && golden.score.decimals == actual.score.decimals
    let score = actual.score.units - golden.score.units
    return areAlike ? (theirs - mine, score) : (SIMD4(repeating: .nan), .nan)
  }

  /// Whether errors of this many steps are allowed; `false` if one of them is not a number.
  @inline(__always)
  func allows(_ box: SIMD4<Double>, _ score: Double, like golden: DetectionLine) -> Bool {
    let sides = max(
      max(box[0].magnitude, box[1].magnitude), max(box[2].magnitude, box[3].magnitude))
    return sides <= allowedSteps[0][Int(golden.x.decimals)]
      && score.magnitude <= allowedSteps[1][Int(golden.score.decimals)]
      && (box[0] + box[1] + box[2] + box[3]).isFinite
  }

  /// Records errors that are allowed.
  @inline(__always)
  mutating func note(
    _ box: SIMD4<Double>, _ score: Double, like golden: DetectionLine, _ frame: FrameID
  ) {
    current.boxes.count += 1
    if box != .zero {
      let scale = scales[Int(golden.x.decimals)]
      let sides = max(
        max(box[0].magnitude, box[1].magnitude), max(box[2].magnitude, box[3].magnitude))
      note(.position, sides / scale, allowed: allowed[0], frame)
      current.boxes.sum += box / scale
      boxStep = 1 / scale
    }
    if score != 0 {
      let scale = scales[Int(golden.score.decimals)]
      note(.score, score.magnitude / scale, allowed: allowed[1], frame)
    }
  }
}
