/// When a light changed, as one camera saw it: a time, or a span between two exposures.
struct LightStep: Hashable {
  var rises: Bool
  /// Whether it changed while the frame was exposed.
  var isExposed: Bool
  /// The beginning of the frame's exposure; for a change between two exposures, the later
  /// exposure's.
  var anchor: Double
  /// From the beginning of one exposure to the beginning of the next.
  var length: Double
  /// The part of the exposure that had passed when the light changed; 0 between two exposures.
  var rest: Double

  /// The bounds of its time for a part of `length` that is exposed, and how they change with that.
  func bounds(_ exposure: Double) -> (
    low: Double, high: Double, lowSlope: Double, highSlope: Double
  ) {
    if isExposed {
      let slope = rest * length
      return (anchor + slope * exposure, anchor + slope * exposure, slope, slope)
    }
    return (anchor - (1 - exposure) * length, anchor, length, 0)
  }

  /// The middle of its bounds.
  func time(_ exposure: Double) -> Double {
    let bounds = bounds(exposure)
    return (bounds.low + bounds.high) / 2
  }
}

/// Improves a rough line between two clocks, with the information that each pair of steps carries.
///
/// Two changes during exposures are an equation. A change between two exposures sets bounds, which
/// count only where the line leaves them. The exposure time of each camera is found with the line,
/// because the times of both depend on it; how often a change fell into an exposure is a rough
/// estimate of it. Least squares over the equations and the violated bounds, repeated until the
/// solution is stable.
struct FlashRefinement {
  /// How well the brightness of a frame tells a time, in seconds.
  private static let noise = 0.000_3
  /// Bounds that the line leaves by more belong to another change.
  private static let outlier = 0.004
  private static let roundsMax = 40

  let pairs: [(first: LightStep, second: LightStep)]
  /// The parts of the frames' lengths that are exposed, with how uncertain they are.
  let exposures: (first: Exposure, second: Exposure)

  struct Exposure: Hashable {
    var part: Double
    var uncertainty: Double
  }

  struct Line: Hashable {
    /// First clock minus second clock when the second one shows zero, in seconds.
    var offset: Double
    var slope: Double
    /// The pairs that agree.
    var agreeing: Int
  }

  /// - Returns: nil if the pairs say too little.
  func line(from rough: (offset: Double, slope: Double)) -> Line? {
    guard pairs.count >= 3 else { return nil }
    let times = pairs.map { $0.second.time(exposures.second.part) }
    // Around the mean, because times are large compared with the fitted numbers.
    let mean = times.reduce(0, +) / Double(times.count)
    var state = State(
      offset: rough.offset + rough.slope * mean, slope: rough.slope,
      first: exposures.first.part, second: exposures.second.part)
    for _ in 0..<Self.roundsMax {
      guard let change = change(of: state, mean: mean) else { return nil }
      state.add(change)
      if change.allSatisfy({ abs($0) < 1e-10 }) { break }
    }
    let agreeing = pairs.count { pair in
      abs(residual(pair, state, mean).value) <= Self.outlier / 2
    }
    guard agreeing >= 3 else { return nil }
    return Line(
      offset: state.offset - state.slope * mean, slope: state.slope, agreeing: agreeing)
  }

  private struct State {
    var offset: Double
    var slope: Double
    var first: Double
    var second: Double

    mutating func add(_ change: [Double]) {
      offset += change[0]
      slope += change[1]
      first = min(1, max(0.02, first + change[2]))
      second = min(1, max(0.02, second + change[3]))
    }
  }

  /// How far the line is outside the bounds of a pair, and the derivatives by the four numbers.
  private func residual(
    _ pair: (first: LightStep, second: LightStep), _ state: State, _ mean: Double
  ) -> (value: Double, row: [Double]) {
    let (a, b) = (pair.first.bounds(state.first), pair.second.bounds(state.second))
    let time = (b.low + b.high) / 2 - mean
    let line = state.offset + state.slope * time
    let (low, high) = (a.low - b.high, a.high - b.low)
    if line < low { return (low - line, [1, time, -a.lowSlope, b.highSlope]) }
    if line > high { return (high - line, [1, time, -a.highSlope, b.lowSlope]) }
    return (
      0, pair.first.isExposed && pair.second.isExposed ? [1, time, -a.lowSlope, b.lowSlope] : []
    )
  }

  private func change(of state: State, mean: Double) -> [Double]? {
    var matrix = [[Double]](repeating: [Double](repeating: 0, count: 5), count: 4)
    func add(_ row: [Double], _ value: Double, _ weight: Double) {
      for i in 0..<4 {
        for j in 0..<4 { matrix[i][j] += row[i] * row[j] * weight }
        matrix[i][4] += row[i] * value * weight
      }
    }
    for pair in pairs {
      let (value, row) = residual(pair, state, mean)
      guard !row.isEmpty, abs(value) <= Self.outlier else { continue }
      add(row, value, 1 / (Self.noise * Self.noise))
    }
    for (place, exposure, now) in [
      (2, exposures.first, state.first), (3, exposures.second, state.second),
    ] {
      var row = [0.0, 0, 0, 0]
      row[place] = 1
      add(row, exposure.part - now, 1 / (exposure.uncertainty * exposure.uncertainty))
    }
    return Self.solved(matrix)
  }

  /// Gauss's elimination of four equations, each with its right side as the fifth column.
  private static func solved(_ equations: [[Double]]) -> [Double]? {
    var rows = equations
    for column in 0..<4 {
      let pivot = (column..<4).max { abs(rows[$0][column]) < abs(rows[$1][column]) } ?? column
      guard abs(rows[pivot][column]) > 1e-12 else { return nil }
      rows.swapAt(column, pivot)
      for row in 0..<4 where row != column {
        let factor = rows[row][column] / rows[column][column]
        for place in column..<5 { rows[row][place] -= factor * rows[column][place] }
      }
    }
    return (0..<4).map { rows[$0][4] / rows[$0][$0] }
  }
}
