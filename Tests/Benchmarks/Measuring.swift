import Foundation
import RetakeCore
import RetakeRuntime

/// How much is measured: enough to say something, or only enough to see that it runs.
struct Scale {
  var isTiny: Bool

  /// Rounds of each rival, in turns: of a noisy machine the best round says most.
  var rounds: Int { isTiny ? 1 : 7 }

  func count(_ full: Int, tiny: Int) -> Int { isTiny ? tiny : full }
}

/// Seconds that a piece of work took, and what came out of it.
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

/// The best of several rounds in which rivals take turns, so that they share the machine's moods.
struct Contest {
  private(set) var bestSeconds: [Double]
  private(set) var hashes: [String]
  /// The same work gave different results in two rounds.
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

  /// One digest of all results; says so when they were not the same in every round.
  var hash: String {
    isUnsteady ? "unsteady" : Digest128(of: hashes.joined(separator: " ")).description
  }
}

/// Work for a processor that no compiler can leave out.
enum Spin {
  /// Rounds that take about a millisecond.
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
