import Foundation
import RetakeCore
import Testing

/// The digest of the bits of numbers.
func bits(_ numbers: [Double]) -> String {
  var hasher = DigestHasher()
  for number in numbers { hasher.append(number) }
  return hasher.finish().description
}

/// Numbers in -1 to 1 that look random and are the same everywhere.
func noise(_ count: Int, seed: UInt64 = 1) -> [Double] {
  var state = seed &* 0x9e37_79b9_7f4a_7c15 | 1
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Double(Int64(bitPattern: state) >> 11) / 4_503_599_627_370_496
  }
}

@Suite struct AngleTests {
  @Test func `quarters of a turn are exact`() {
    let turns = [0, 0.25, 0.5, 0.75, 1, -0.25, 7.5].map { Angle($0) }
    #expect(turns.map(\.cosine) == [1, 0, -1, 0, 1, 0, -1])
    #expect(turns.map(\.sine) == [0, 1, 0, -1, 0, -1, 0])
  }

  @Test func `sine and cosine are those of the C library, to the last place`() {
    // Within a turn only: the library's argument is a rounded multiple of pi.
    for index in -1_024...1_024 {
      let (turn, angle) = (Angle(Double(index) / 1_024), 2 * Double.pi * Double(index) / 1_024)
      #expect(abs(turn.cosine - cos(angle)) < 1e-15 && abs(turn.sine - sin(angle)) < 1e-15)
    }
    #expect(abs(Angle(1.0 / 12).sine - 0.5) < 1e-15)
  }

  @Test func `the bits are the same on every machine`() {
    let turns = (0..<1_000).map { Angle(Double($0) * 0.618_033_988_749_895) }
    let digest = bits(turns.flatMap { [$0.cosine, $0.sine] })
    #expect(digest == "6defb14c22184ffc1310593687a7a86e")
  }
}
