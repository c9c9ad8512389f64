import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// A pipeline that runs beside a recorder, and what the session then holds of it.
@Suite struct LiveRecordingTests {
  @Test func `what a pipeline was told and decided is in the session, beside every frame`() throws {
    let folder = try TemporaryFolder("retake-live")
    var live = LivePipeline(Self.pipeline, registry: StageRegistry())
    live.watchesDevice = false
    let recorder = try Recorder(
      try Scene(30).source, options: .test(folder, preset: .ffv1),
      machine: Recorder.Machine(), pipeline: live)
    let result = try recorder.run()
    #expect(result.progress.frames.captured == 30)
    let outcome = try #require(try result.pipeline?.get())
    #expect(outcome.headline.isBalanced)
    #expect(outcome.headline.captured + outcome.lostBeforeCapture == 30)
    let session = try SessionReader(opening: result.folder.path)
    let run = try session.liveRun()
    #expect(run.hasExactPixels)
    #expect(run.nodeIDs == ["camera", "found", "sum"])
    let events = try run.events(from: 0)
    #expect(events.map(\.ordinal) == Array(events.indices))
    #expect(events.count { $0.kind == "arrival" } == 30)
    #expect(try run.decisions(from: 0).count == outcome.decisions)
    #expect(try run.results(from: 0).count == outcome.headline.captured)
    let tape = try session.costTape()
    #expect(tape.spanCount == events.count { $0.kind == "completion" })
  }

  @Test func `a session without a pipeline has no live run, and says how to record one`() throws {
    let folder = try TemporaryFolder("retake-live")
    let result = try record(Scene(3), options: .test(folder))
    let session = try SessionReader(opening: result.folder.path)
    #expect(code { try session.liveRun() } == "session.run.none")
  }

  private static let pipeline = Pipeline(
    name: "beside",
    nodes: [
      PipelineNode(
        id: "camera",
        stage: AnyStage(
          signature: StageSignature(
            kind: AnyStage.sessionKind, version: 1, role: .source, input: nil, output: .frame),
          options: .object(["track": .integer(0)]), body: .source(SessionSource(track: 0)))),
      PipelineNode(id: "sum", stage: AnyStage(Sum())),
      PipelineNode(
        id: "found",
        stage: AnyStage(
          signature: StageSignature(
            kind: "results", version: 1, role: .sink, input: nil, output: nil),
          options: .object([:]), body: .sink { _ in })),
    ],
    edges: [
      PipelineEdge(from: "camera", to: "sum", capacity: 3, policy: .dropNewest),
      PipelineEdge(from: "sum", to: "found"),
    ])
}

private struct Sum: PureStage {
  static let kind = "sum"

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("sum", Double(frame.bytes(of: 0).reduce(0) { $0 + Int($1) }))])
  }
}
