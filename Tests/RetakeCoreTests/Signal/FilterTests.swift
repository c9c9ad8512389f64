import RetakeCore
import Testing

@Suite struct SmoothnessPriorTests {
  /// The solution of the paper: the dense matrix, with Gaussian elimination and pivots.
  private func dense(_ samples: [Double], lambda: Double) -> [Double] {
    let count = samples.count
    var matrix = (0..<count).map { row in
      (0..<count).map { $0 == row ? 1.0 : 0 } + [samples[row]]
    }
    for row in 0..<count - 2 {
      let difference = [(row, 1.0), (row + 1, -2.0), (row + 2, 1.0)]
      for (i, left) in difference {
        for (j, right) in difference { matrix[i][j] += lambda * lambda * left * right }
      }
    }
    for column in 0..<count {
      let pivot = (column..<count).max { abs(matrix[$0][column]) < abs(matrix[$1][column]) }
      matrix.swapAt(column, pivot ?? column)
      for row in column + 1..<count {
        let factor = matrix[row][column] / matrix[column][column]
        for index in column...count { matrix[row][index] -= factor * matrix[column][index] }
      }
    }
    var trend = [Double](repeating: 0, count: count)
    for row in (0..<count).reversed() {
      let rest = (row + 1..<count).reduce(matrix[row][count]) { $0 - matrix[row][$1] * trend[$1] }
      trend[row] = rest / matrix[row][row]
    }
    return zip(samples, trend).map { $0 - $1 }
  }

  @Test(arguments: [3, 4, 5, 6, 17, 150])
  func `five diagonals give the dense solution`(count: Int) {
    for lambda in [0.5, 10, 100, 500] {
      let samples = noise(count).enumerated().map { $1 + Double($0) / 20 }
      let found = SmoothnessPrior(lambda: lambda).detrended(samples)
      let worst = zip(found, dense(samples, lambda: lambda)).map { abs($0 - $1) }.max() ?? 1
      #expect(worst < 1e-9, "lambda \(lambda)")
    }
  }

  @Test func `a line is a trend, and so is what is too short for another`() {
    let line = (0..<300).map { 7 - 0.25 * Double($0) }
    let left = SmoothnessPrior(lambda: 100).detrended(line)
    #expect(left.allSatisfy { abs($0) < 1e-8 })
    #expect(SmoothnessPrior(lambda: 100).detrended([5, 9]) == [0, 0])
    #expect(SmoothnessPrior(lambda: 100).detrended([]).isEmpty)
  }

  @Test func `half of the amplitude is left at the frequency that is documented`() {
    // 30 / (2π √100) = 0.477 Hz.
    let samples = (0..<3_000).map { Angle(0.477_464_829 * Double($0) / 30).sine }
    let left = SmoothnessPrior(lambda: 100).detrended(samples)[1_000..<2_000].map { abs($0) }.max()
    #expect(abs((left ?? 0) - 0.5) < 0.005)
  }

  @Test func `the bits are the same on every machine`() {
    let left = SmoothnessPrior(lambda: 100).detrended(noise(500))
    #expect(bits(left) == "782a2f230c1565bb5681a8409f7bdb4a")
  }
}

@Suite struct BandPassTests {
  /// The amplitude of a filtered sine of one frequency, far from the ends.
  private func gain(_ filter: BandPass, hertz: Double, rate: Double) -> Double {
    let samples = (0..<Int(60 * rate)).map { Angle(hertz * Double($0) / rate).sine }
    let middle = filter.filtered(samples)[Int(20 * rate)..<Int(40 * rate)]
    return middle.map { abs($0) }.max() ?? 0
  }

  @Test(arguments: 1...6)
  func `both passes halve the edges and keep the middle`(order: Int) {
    let filter = BandPass(low: 0.5, high: 4, order: order, rate: 240)
    #expect(abs(gain(filter, hertz: 0.5, rate: 240) - 0.5) < 0.01)
    #expect(abs(gain(filter, hertz: 4, rate: 240) - 0.5) < 0.01)
    #expect(abs(gain(filter, hertz: 1.4143, rate: 240) - 1) < 0.01)
    // A decade outside, an amplitude falls by ten for each order and pass, and here by more.
    #expect(gain(filter, hertz: 40, rate: 240) < 0.015)
  }

  @Test func `nothing is delayed`() {
    let samples = (0..<900).map { Angle(1.2 * Double($0) / 30).sine }
    let filtered = BandPass(low: 0.5, high: 4, order: 2, rate: 30).filtered(samples)
    for index in 300..<600 {
      let isTop = samples[index] > samples[index - 1] && samples[index] >= samples[index + 1]
      #expect(
        isTop == (filtered[index] > filtered[index - 1] && filtered[index] >= filtered[index + 1]))
    }
  }

  @Test func `a constant and an edge of any length give no pulse of their own`() {
    let filter = BandPass(low: 0.5, high: 4, order: 2, rate: 30)
    #expect(filter.filtered(Array(repeating: 9, count: 90)).allSatisfy { abs($0) < 1e-12 })
    for count in 0..<4 {
      #expect(filter.filtered(Array(repeating: 9, count: count)).allSatisfy { abs($0) < 1e-12 })
    }
  }

  @Test func `the bits are the same on every machine`() {
    let filtered = (1...6).flatMap {
      BandPass(low: 0.5, high: 4, order: $0, rate: 30).filtered(noise(300))
    }
    #expect(bits(filtered) == "79969b8df893c729353960e95a47634e")
  }
}
