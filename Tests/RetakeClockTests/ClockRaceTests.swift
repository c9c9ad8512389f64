import Foundation
import RetakeClock
import Testing

/// Many runs of each program: `Scripts/race-clock` runs this with 10,000 of each, and prints the
/// figures.
@Suite struct ClockRaceTests {
  static let runs = ProcessInfo.processInfo.environment["RETAKE_CLOCK_RUNS"].flatMap(Int.init)

  @Test(arguments: AsyncProgram.allCases)
  func `every run has the same trace`(_ program: AsyncProgram) async throws {
    var traces: Set<[String]> = []
    let runs = Self.runs ?? 50
    for _ in 0..<runs { traces.insert(try await AsyncProgramTests.trace(of: program)) }
    #expect(traces == [program.expected])
    if Self.runs != nil { print("race-clock: \(program): \(runs) runs, \(traces.count) trace") }
  }

  /// The same programs on Swift's own pool and clock, a hundred times faster, which shows the
  /// purpose of the virtual clock. The number of traces depends on the machine, so that it is
  /// printed and not tested.
  @Test(
    .enabled(if: runs != nil, "long runs: Scripts/race-clock"), arguments: AsyncProgram.allCases)
  func `twins in real time have several traces`(_ program: AsyncProgram) async throws {
    var traces: Set<[String]> = []
    let twins = min(Self.runs ?? 0, 300)
    for _ in 0..<twins {
      let trace = Trace()
      await program.run(clock: ContinuousClock(), unit: .microseconds(10), trace: trace)
      traces.insert(trace.lines)
    }
    #expect(!traces.isEmpty)
    print("race-clock: \(program) in real time: \(twins) runs, \(traces.count) traces")
  }

  @Test(.enabled(if: runs != nil, "long runs: Scripts/race-clock"))
  func `sleeps in a second`() async throws {
    let count = 200_000
    let duration = try await ContinuousClock().measure {
      try await withVirtualTime { time in
        let clock = time.clock
        try await withThrowingTaskGroup(of: Void.self) { group in
          for task in 1...100 {
            group.addTask {
              for _ in 0..<count / 100 { try await clock.sleep(for: .milliseconds(task)) }
            }
          }
          try await group.waitForAll()
        }
      }
    }
    #expect(duration > .zero)
    print("race-clock: \(Int(Double(count) / (duration / .seconds(1)))) sleeps a second")
  }
}
