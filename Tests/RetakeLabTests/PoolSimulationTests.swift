import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeBench
@testable import retake_lab

/// The searches compute the results that the engine decides.
@Suite struct PoolSimulationTests {
  private struct Compared: Equatable {
    var stalls: Int
    var mean: Int
    var peakUsed: Int
    var resizes: Int
    var isBroken: Bool
    var lost: Int?
    var longest: Int64?
    var median: Int64?

    init(_ row: PoolFigures) {
      (stalls, mean, peakUsed) = (row.stalls, row.meanBuffersHundredths, row.peakUsed)
      (resizes, isBroken) = (row.resizes, row.isBroken)
      (lost, longest, median) = (row.waits?.lost, row.waits?.longest, row.waits?.median)
    }

    init(_ found: PoolSimulation.Outcome, waits isWaiting: Bool) {
      (stalls, mean, peakUsed) = (found.stalls, found.meanHundredths, found.peakUsed)
      (resizes, isBroken) = (found.resizes.count, found.isBroken)
      guard isWaiting else { return }
      let waits = PoolWaits(
        found.waits, lost: found.lost, stalls: found.stalls, frames: found.frames)
      (lost, longest, median) = (waits.lost, waits.longest, waits.median)
    }
  }

  /// Shortened, so that a debug build is done soon.
  private static func loads() throws -> [PoolLoad] {
    let loads = try PoolLoad.standard() + [PoolLoad.scan()]
    return loads.filter { $0.events.isEmpty && $0.executors == 1 }.map { load in
      var load = load
      load.repeats = max(1, load.repeats / 4)
      load.wait = nil
      return load
    }
  }

  @Test(arguments: [(nil, 0), (1_000, 0), (30, 2), (7, 1)] as [(Int?, Int)])
  func `a simulated pool does as the engine decides`(
    waitMilliseconds: Int?, driverFrames: Int
  ) throws {
    for load in try Self.loads() {
      var load = load
      load.wait = waitMilliseconds.map { .milliseconds($0) }
      load.driverFrames = driverFrames
      let simulation = PoolSimulation(load)
      for contender in PoolContender.waiting {
        let engine = Compared(try PoolTrial(load, contender).run())
        let simulated = Compared(simulation.run(contender), waits: load.wait != nil)
        #expect(engine == simulated, "\(load.name) \(contender.name)")
      }
    }
  }

  @Test func `a change that is undone within six windows counts with its time`() {
    var outcome = PoolSimulation.Outcome(frames: 1, nanoseconds: 10)
    func change(_ second: Int64, _ from: Int, _ to: Int) -> PoolSimulation.Change {
      .init(time: second * 1_000_000_000, from: from, to: to)
    }
    outcome.resizes = [
      change(0, 8, 9), change(2, 9, 8), change(6, 8, 9), change(7, 9, 10), change(10, 10, 9),
    ]
    #expect(PoolSwing.undone(outcome, within: 3_000_000_000) == 5_000_000_000)
  }

  @Test
  func `every session in which buffers could not be made goes on when the pool is made again`()
    throws
  {
    let failures = try PoolFailures.all.get()
    #expect(failures.allRecovered && failures.rows[0].affected > 0)
    #expect(failures.rows[1].affected > 0 && failures.rows[1].recovered == 0)
  }
}
