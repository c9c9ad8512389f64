import Foundation
import Retake
import RetakeTestSupport
import Testing

/// docs/failures.md: an expectation that fails in a sink fails its own test.
@Suite struct SinkExpectationTests {
  private static let variable = "RETAKE_SINK_EXPECTATION"
  private static let isChild = ProcessInfo.processInfo.environment[variable] != nil

  @Test func `an expectation that fails in a sink fails the test that runs the pipeline`() throws {
    let result = try runTests(
      ["--testing-library", "swift-testing", "--filter", "SinkExpectationChild"],
      environment: [Self.variable: "1"])
    let said = result.stdout + result.stderr
    #expect(result.status != 0)
    #expect(
      said.contains(/Test "a dark frame".*recorded an issue at SinkExpectationTests\.swift/),
      "\(said)")
    #expect(said.contains("with 2 tests") && said.contains("with 1 issue"), "\(said)")
    #expect(said.contains(/Test "a bright frame".* passed/), "\(said)")
  }

  @Suite(.enabled(if: isChild, "runs in a process of its own"))
  struct SinkExpectationChild {
    private func run(level: UInt8) throws {
      let frame = Frame(
        format: .gray, width: 16, height: 16, planes: [[UInt8](repeating: level, count: 256)])
      let pipeline = Pipeline.named("levels").source(.frames([frame])).luminance().sink { result in
        #expect((try? result.get()["mean"] ?? 0) ?? 0 > 40)
      }
      _ = try Replay(
        pipeline, reader: nil, catalog: StageRegistry.builtIn,
        request: Replay.Request(caseName: pipeline.name)
      ).run()
    }

    @Test func `a dark frame`() throws { try run(level: 20) }
    @Test func `a bright frame`() throws { try run(level: 200) }
  }
}
