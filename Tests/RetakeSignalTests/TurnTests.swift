import Foundation
import RetakeCore
import RetakeSignal
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

@Suite struct TurnTests {
  @Test func `quarters of a turn are exact`() {
    #expect([0, 0.25, 0.5, 0.75, 1, -0.25, 7.5].map { Turn($0).cosine } == [1, 0, -1, 0, 1, 0, -1])
    #expect([0, 0.25, 0.5, 0.75, 1, -0.25, 7.5].map { Turn($0).sine } == [0, 1, 0, -1, 0, -1, 0])
  }

  @Test func `sine and cosine are those of the C library, to the last place`() {
    let worst = (-2_000...2_000).map { index -> Double in
      let turns = Double(index) / 1_024
      let turn = Turn(turns)
      // Only the first turns: the library's argument is a rounded multiple of pi.
      guard abs(turns) <= 1 else { return 0 }
      return max(
        abs(turn.cosine - cos(2 * .pi * turns)), abs(turn.sine - sin(2 * .pi * turns)))
    }.max() ?? 1
    #expect(worst < 1e-15)
    #expect(abs(Turn(1.0 / 12).sine - 0.5) < 1e-15)
  }

  @Test func `the bits are the same on every machine`() {
    let turns = (0..<1_000).map { Turn(Double($0) * 0.618_033_988_749_895) }
    let digest = bits(turns.flatMap { [$0.cosine, $0.sine] })
    #expect(digest == "6defb14c22184ffc1310593687a7a86e")
  }
}
