import Foundation
import RetakeCore
import RetakeRuntime

/// How much is measured: enough for a result, or only enough to check that the benchmark runs.
struct Scale {
  var isTiny: Bool

  /// The rounds of each rival, in turns. On a noisy machine, the best round is the most meaningful.
  var rounds: Int { isTiny ? 1 : 7 }

  func count(_ full: Int, tiny: Int) -> Int { isTiny ? tiny : full }
}

/// The duration of a piece of work in seconds, and its result.
struct Timing {
  var seconds: Double
  var hash: String

  init(_ body: () throws -> String) rethrows {
    let clock = WallClock()
    let start = clock.monotonicNanoseconds
    hash = try body()
    seconds = Double(clock.monotonicNanoseconds - start) / 1e9
  }
}

/// The best of several rounds in which rivals alternate, so that variations of the machine affect
/// all of them.
struct Contest {
  private(set) var bestSeconds: [Double]
  private(set) var hashes: [String]
  /// The same work had different results in two rounds.
  private(set) var isUnsteady = false

  init(rounds: Int, _ rivals: [() throws -> String]) throws {
    bestSeconds = rivals.map { _ in .infinity }
    hashes = rivals.map { _ in "" }
    for round in 0..<rounds {
      for (index, rival) in rivals.enumerated() {
        let timing = try Timing(rival)
        bestSeconds[index] = min(bestSeconds[index], timing.seconds)
        if round > 0, hashes[index] != timing.hash { isUnsteady = true }
        hashes[index] = timing.hash
      }
    }
  }

  /// One digest of all results, or "unsteady" if they were not the same in every round.
  var hash: String {
    isUnsteady ? "unsteady" : Digest128(of: hashes.joined(separator: " ")).description
  }
}

/// Work for a processor that a compiler cannot remove.
enum Spin {
  /// Rounds that last about a millisecond.
  static let roundsPerMillisecond = 400_000

  static func run(rounds: Int, seed: UInt64) -> UInt64 {
    var state = seed | 1
    for _ in 0..<rounds {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
    }
    return state
  }
}

/// A result that several threads add to, in any order.
struct UnorderedHash {
  private(set) var sum: UInt64 = 0

  mutating func add(_ value: UInt64) { sum &+= value &* 0x9e37_79b9_7f4a_7c15 }
}
