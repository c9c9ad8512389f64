import RetakeClock
import Testing

/// Six programs, each with its only valid trace.
@Suite struct AsyncProgramTests {
  static func trace(of program: AsyncProgram) async throws -> [String] {
    try await withVirtualTime { time in
      let clock = time.clock
      let trace = Trace { clock.now.description }
      await program.run(clock: clock, unit: .milliseconds(1), trace: trace)
      return trace.lines
    }
  }

  @Test(arguments: AsyncProgram.allCases)
  func `a program has the trace that it must have, each time`(_ program: AsyncProgram) async throws
  {
    for _ in 0..<20 {
      #expect(try await Self.trace(of: program) == program.expected)
    }
  }
}
