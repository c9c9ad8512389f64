import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeProcess
import RetakeRuntime
import RetakeTestSupport
import Testing

@testable import RetakeForeign

/// A camera loop, and a stage of the same cost: virtual time decides the same about both.
@Suite(.enabled(if: ChildProcess.path(of: "clang++") != nil, "clang++ is not installed"))
struct LoopTwinTests {
  private static let loop = """
    #include "retake_capture.hpp"

    int main() {
      retake::Capture capture(0);
      capture.format("GRAY8").sink("first", "scalars");
      retake::Image image;
      while (capture.read(image)) capture.scalar("first", "value", image.data[0]);
    }
    """

  private struct First: PureStage {
    static let kind = "first"
    static let inputFormats: [PixelFormat] = [.gray]

    init() {}
    init(options: NoOptions) {}

    func process(_ frame: Frame, _ context: StageContext) -> Scalars {
      Scalars([.init("value", Double(frame.bytes(of: 0).first ?? 0))])
    }
  }

  private static func program(in folder: TemporaryFolder) throws -> AnyStage {
    let source = try folder.write(loop, to: "loop.cpp")
    let program = folder.file("loop")
    let made = try runCommand(
      "clang++",
      arguments: [
        "-std=c++17", "-I\(packageRoot.appending(path: "C").path)", source.path, "-o",
        program.path, "-lm",
      ])
    try #require(made.status == 0, "\(made.stderr)")
    return try AnyStage.process(
      ForeignProgram(command: [program.path], output: .program, timeoutSeconds: 60),
      options: .object([:]))
  }

  /// Decision lines, and the values at the sink.
  private final class Heard: RunObserver {
    var lines: [String] = []
    var results: [SinkOutcome.Content] = []
    var wantsDecisions: Bool { true }

    func decided(_ line: DecisionLine) { lines.append("\(line)") }
    func finished(_ frame: FinishedFrame) {
      results += frame.result.outcomes.map(\.content)
    }
  }

  /// - Parameter output: The type of the stage's values.
  private func run<Output: PipelineValue>(
    _ stage: AnyStage, _ output: Output.Type, cost: Cost, capacity: Int, policy: EdgePolicy
  ) throws -> Heard {
    let work: PipelineChain<Output> = Pipeline.named("twin")
      .source(PythonProgram.source(90)).appending(stage, id: "work")
    let pipeline = work.cost(cost).queue(capacity: capacity, policy: policy).results("first")
    let heard = Heard()
    _ = try PreparedRun(pipeline, catalog: StageRegistry.builtIn)
      .run(RunOptions(mode: .simulate, seed: 3), observer: heard)
    return heard
  }

  @Test func `a loop drops the frames that its twin drops, line by line`() throws {
    let folder = try TemporaryFolder()
    let loop = try Self.program(in: folder)
    let cases: [(cost: Cost, capacity: Int, policy: EdgePolicy, drop: String)] = [
      (.fixed(.milliseconds(90)), 1, .dropOldest, " drop reason=queue"),
      (.fixed(.milliseconds(45)), 3, .dropNewest, " drop reason=queue"),
      (.uniform(.milliseconds(20), .milliseconds(120)), 1, .replace, " supersede"),
      (
        .quantiles(p50: .milliseconds(40), p99: .milliseconds(200)), 2, .dropOldest,
        " drop reason=queue"
      ),
      (.fixed(.milliseconds(45)), 2, .block, " done"),
    ]
    for (cost, capacity, policy, drop) in cases {
      let own = try run(
        loop, ProgramOuts.self, cost: cost, capacity: capacity, policy: policy)
      let twin = try run(
        AnyStage(First()), Scalars.self, cost: cost, capacity: capacity, policy: policy)
      #expect(own.lines == twin.lines, "\(policy) \(cost)")
      #expect(own.results == twin.results, "\(policy) \(cost)")
      #expect(twin.lines.contains { $0.contains(drop) }, "\(policy) \(cost)")
    }
  }
}
