/// The exponential function with the same bits on every machine.
///
/// The C library's `exp` has other last bits with and without fused multiply-add. This one is made
/// of IEEE additions and multiplications alone, in a fixed order; Swift does not fuse them.
enum ExactExponential {
  /// e to the power of x, with a relative error below 4e-16; 0 below −745, infinite above 709.78.
  ///
  /// x = k ln 2 + r with |r| ≤ ln 2 / 2, and e^r by its Taylor series up to r^13 / 13!, whose rest
  /// is below 5e-18.
  static func exp(_ x: Double) -> Double {
    guard x.isFinite else { return x == -.infinity ? 0 : x }
    guard x > -745 else { return 0 }
    guard x < 709.782712893384 else { return .infinity }
    let k = (x * 1.4426950408889634).rounded(.toNearestOrEven)
    // ln 2 in two parts. The first has so few bits that its product with k is exact.
    let r = (x - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
    var sum = inverseFactorials[inverseFactorials.count - 1]
    for factor in inverseFactorials.dropLast().reversed() { sum = sum * r + factor }
    // In two steps, because a `Double` cannot hold 2^1024.
    let half = Int(k) / 2
    return sum * powerOfTwo(half) * powerOfTwo(Int(k) - half)
  }

  /// 1 / (1 + e^−x): 0 to 1.
  static func sigmoid(_ x: Double) -> Double { 1 / (1 + exp(-x)) }

  private static func powerOfTwo(_ exponent: Int) -> Double {
    Double(sign: .plus, exponent: exponent, significand: 1)
  }

  /// 1 / n! for n from 0 to 13; each quotient is correctly rounded.
  private static let inverseFactorials: [Double] = {
    var factorial = 1.0
    return [1]
      + (1...13).map { n in
        factorial *= Double(n)
        return 1 / factorial
      }
  }()
}
