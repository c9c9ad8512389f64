import RetakeCore
import Testing

@Suite struct FourierTransformTests {
  @Test(arguments: [4, 8, 64, 16_384])
  func `a cosine of a bin is in that bin alone`(size: Int) {
    let bin = size / 4
    let samples = (0..<size).map { Angle(Double(bin * $0) / Double(size)).cosine }
    let power = FourierTransform(size: size).power(of: samples)
    #expect(power.count == size / 2 + 1)
    #expect(abs(power[bin].squareRoot() - Double(size) / 2) < 1e-9 * Double(size))
    let others = power.enumerated().filter { $0.offset != bin }.map(\.element)
    #expect(others.allSatisfy { $0 < 1e-18 * Double(size * size) })
  }

  @Test func `every bin is the sum of the definition`() {
    let samples = noise(50)
    let power = FourierTransform(size: 64).power(of: samples)
    for bin in 0...32 {
      var (real, imaginary) = (0.0, 0.0)
      for (index, sample) in samples.enumerated() {
        let turn = Angle(-Double(bin * index) / 64)
        real += sample * turn.cosine
        imaginary += sample * turn.sine
      }
      #expect(abs(power[bin] - (real * real + imaginary * imaginary)) < 1e-11)
    }
  }

  @Test func `the bits are the same on every machine`() {
    let small = FourierTransform(size: 1_024).power(of: noise(1_000))
    let large = FourierTransform(size: 32_768).power(of: noise(20_000))
    #expect(bits(small + large) == "fa2dfe6af7040423cdea0511f891e56e")
  }
}
