import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeInference

@Suite struct ExactExponentialTests {
  @Test func `it is the C library's within a few last bits`() {
    var generator = SeededGenerator(seed: 7)
    var worst = 0.0
    for _ in 0..<20_000 {
      let x = Double(generator.pick(-7_000_000...7_000_000)) / 10_000
      let reference = exp(x)
      worst = max(worst, abs(ExactExponential.exp(x) - reference) / reference)
    }
    #expect(worst < 6e-16)
  }

  @Test func `its bits are known`() {
    let bits = [1.0, -1, 0.5, 20, -20, 88.7].map { ExactExponential.exp($0).bitPattern }
    let expected: [Double] = [
      2.718281828459045, 0.36787944117144233, 1.6487212707001282, 485165195.4097903,
      2.061153622438558e-09, 3.3266084199484094e+38,
    ]
    #expect(zip(bits, expected).allSatisfy { abs(Int64($0) - Int64($1.bitPattern)) <= 1 })
    #expect(ExactExponential.exp(0) == 1)
  }

  @Test func `the ends are 0 and infinity`() {
    #expect(ExactExponential.exp(-746) == 0 && ExactExponential.exp(-.infinity) == 0)
    #expect(ExactExponential.exp(710) == .infinity && ExactExponential.exp(.infinity) == .infinity)
    #expect(ExactExponential.exp(709.78).isFinite && ExactExponential.exp(-740) > 0)
    #expect(ExactExponential.exp(.nan).isNaN)
    #expect(ExactExponential.sigmoid(0) == 0.5)
    #expect(ExactExponential.sigmoid(100) == 1 && ExactExponential.sigmoid(-800) == 0)
  }
}
