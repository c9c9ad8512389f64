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
    // Rounded from 60 digits; e itself is one unit in the last place higher.
    let expected: [UInt64] = [
      0x4005_bf0a_8b14_576a, 0x3fd7_8b56_362c_ef38, 0x3ffa_6129_8e1e_069c, 0x41bc_eb08_8b68_e804,
      0x3e21_b486_55f3_7267, 0x47ef_4705_bbff_ae5c,
    ]
    #expect(bits == expected)
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
