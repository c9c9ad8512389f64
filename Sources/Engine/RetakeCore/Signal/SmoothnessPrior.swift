/// Removes a slow trend: the smoothness prior of Tarvainen, Ranta-aho and Karjalainen, "An advanced
/// detrending method with application to HRV analysis" (IEEE Transactions on Biomedical Engineering
/// 49, 2002).
///
/// The trend t of a signal x minimizes |x − t|² + λ²|D t|², where D is the second difference:
/// (I + λ² DᵀD) t = x. The matrix has five diagonals, so one pass forwards and one back solve it,
/// without the inverse of the paper. The remaining signal x − t has the gain λ²ω⁴ / (1 + λ²ω⁴),
/// where ω is 2π frequency / rate: with λ = 100 at 30 samples a second it is one half at 0.48 Hz.
package struct SmoothnessPrior: Hashable, Sendable {
  /// λ; larger values keep slower changes.
  package let lambda: Double

  /// - Parameter lambda: Above 0, at most 1,000,000; beyond that the equations lose all digits.
  package init(lambda: Double) {
    requirement(lambda > 0 && lambda <= 1e6, "lambda is above 0 and at most 1,000,000")
    self.lambda = lambda
  }

  /// The samples without their trend. Fewer than three samples have only a trend.
  package func detrended(_ samples: [Double]) -> [Double] {
    guard samples.count > 2 else { return samples.map { _ in 0 } }
    return zip(samples, trend(of: samples)).map { $0 - $1 }
  }

  /// By L D Lᵀ, where L has a unit diagonal and two diagonals below it.
  private func trend(of samples: [Double]) -> [Double] {
    let count = samples.count
    let matrix = Diagonals(count: count, weight: lambda * lambda)
    var (pivots, first, second) = (matrix.main, matrix.first, matrix.second)
    var solution = samples
    for row in 0..<count {
      if row > 0 {
        pivots[row] -= first[row - 1] * first[row - 1] * pivots[row - 1]
        first[row] -= second[row - 1] * pivots[row - 1] * first[row - 1]
        solution[row] -= first[row - 1] * solution[row - 1]
      }
      if row > 1 {
        pivots[row] -= second[row - 2] * second[row - 2] * pivots[row - 2]
        solution[row] -= second[row - 2] * solution[row - 2]
      }
      first[row] /= pivots[row]
      second[row] /= pivots[row]
    }
    for row in (0..<count).reversed() {
      solution[row] /= pivots[row]
      if row + 1 < count { solution[row] -= first[row] * solution[row + 1] }
      if row + 2 < count { solution[row] -= second[row] * solution[row + 2] }
    }
    return solution
  }
}

/// I + weight · DᵀD: the main diagonal and the two below it, with zeros at their ends.
private struct Diagonals {
  var main: [Double]
  var first: [Double]
  var second: [Double]

  init(count: Int, weight: Double) {
    main = Array(repeating: 1, count: count)
    first = Array(repeating: 0, count: count)
    second = first
    // Each row of D is 1, −2, 1.
    for row in 0..<count - 2 {
      main[row] += weight
      main[row + 1] += 4 * weight
      main[row + 2] += weight
      first[row] -= 2 * weight
      first[row + 1] -= 2 * weight
      second[row] += weight
    }
  }
}
