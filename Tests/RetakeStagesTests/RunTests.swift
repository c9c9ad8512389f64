import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestFrames
import Testing

/// Keeps the frames and the decisions that a run reports.
private final class Listener: RunObserver {
  var wantsDecisions: Bool { true }
  var frames: [FinishedFrame] = []
  var lines: [DecisionLine] = []

  func decided(_ line: DecisionLine) { lines.append(line) }
  func finished(_ frame: FinishedFrame) { frames.append(frame) }

  /// The lines of one kind, as `sequence`.
  func sequences(of kind: String) -> [Int] {
    lines.map { "\($0)" }.filter { $0.contains(" \(kind) ") }
      .compactMap { $0.split(separator: " ")[2].split(separator: ":").last.flatMap { Int($0) } }
  }
}

@Suite struct RunTests {
  private func run(
    _ pipeline: Pipeline, bindings: [String: PreparedRun.Binding] = [:],
    options: RunOptions = RunOptions()
  ) throws -> (outcome: RunOutcome, heard: Listener) {
    let listener = Listener()
    let outcome = try PreparedRun(
      pipeline, bindings: bindings, catalog: StageRegistry.builtIn
    ).run(options, observer: listener)
    return (outcome, listener)
  }

  private func scene(_ kind: SceneKind, frames: Int) -> SyntheticOptions {
    SyntheticOptions(scene: kind, width: 160, height: 120, frames: frames)
  }

  @Test func `figures are found from the second frame on, whatever the workers`() throws {
    let pipeline = Pipeline.named("figures").source(.synthetic(scene(.figures, frames: 40)))
      .motion(options: MotionOptions(threshold: 24)).results()
    let runs = try [0, 1, 3].map { try run(pipeline, options: RunOptions(workers: $0)) }
    let results = runs.map { $0.heard.frames.map(\.result) }
    #expect(results[0] == results[1] && results[0] == results[2])
    #expect(runs[0].outcome.headline.delivered == 40)
    let counts = results[0].map { result in
      result.outcomes.reduce(0) {
        if case .facts(let facts) = $1.content { $0 + facts.count } else { $0 }
      }
    }
    #expect(counts[0] == 0)
    #expect(counts.dropFirst().allSatisfy { (1...4).contains($0) })
  }

  /// Produces a frame that is larger than any memory.
  private struct Giant: PureStage {
    static let kind = "giant"

    init() {}
    init(options: NoOptions) {}

    func process(_ frame: Frame, _ context: StageContext) -> Frame {
      guard context.frame.sequence == 5 else { return frame }
      let storage = FrameStorage.make(format: .i420, width: 64, height: 1 << 40) { _, _ in }
      return Frame(format: .i420, width: 64, height: 48, storage: storage)
    }
  }

  @Test(arguments: [0, 2])
  func `a stage whose frame finds no memory ends the run with what was missing`(
    workers: Int
  ) throws {
    let pipeline = Pipeline.named("giant").source(.synthetic(scene(.figures, frames: 12)))
      .stage(Giant()).motion(options: MotionOptions(threshold: 24)).results()
    let error = #expect(throws: (any Error).self) {
      _ = try run(pipeline, options: RunOptions(workers: workers))
    }
    #expect((error as? any CodedError)?.code == "frame.memory", "\(error as Any)")
  }

  @Test func `the example drops exactly what its cost lets it`() throws {
    let example = try #require(ExamplePipelines.named("motion-boxes"))
    let pipeline = try PipelineDocument.parse(
      Data(example.document.utf8), catalog: StageRegistry.builtIn)
    let reader = try SyntheticScene(scene(.figures, frames: 60))
    let (outcome, heard) = try run(
      pipeline, bindings: ["camera": .init(reader: reader, track: 0)],
      options: RunOptions(mode: .simulate))
    #expect(
      heard.sequences(of: "drop") == [12, 16, 20, 24, 28, 31, 35, 39, 43, 47, 51, 55, 58])
    #expect(outcome.headline.captured == 60)
  }

  @Test func `a throttle halves what a closure is told of`() throws {
    let told = Locked<[Int]>([])
    let pipeline = Pipeline.named("half").source(.synthetic(scene(.pulse, frames: 30)))
      .throttle(fps: 15).fingertip().deliverySink { delivery in
        if case .value = delivery.content { told.withLock { $0.append(delivery.frame.sequence) } }
      }
    let (outcome, _) = try run(pipeline)
    #expect(told.withLock { $0 } == Array(stride(from: 0, to: 30, by: 2)))
    #expect(outcome.headline.throttled == 15)
  }

  @Test func `a crop outside fails its frames, and the run goes on`() throws {
    let small = frame(.gray, 16, 16) { _, _, _ in 1 }
    let large = frame(.gray, 64, 64) { _, _, _ in 2 }
    let pipeline = Pipeline.named("crop").source(.frames([large, small, large]))
      .crop(x: 32, y: 32, width: 8, height: 8).luminance().results()
    let (outcome, _) = try run(pipeline)
    #expect(outcome.headline.delivered == 2)
    #expect(outcome.headline.failed == 1)
    #expect(outcome.failures.map(\.code) == ["crop.outside"])
  }

  @Test func `a sink gets values and failures, a delivery sink also how other frames ended`() throws
  {
    let small = frame(.gray, 16, 16) { _, _, _ in 1 }
    let large = frame(.gray, 64, 64) { _, _, _ in 2 }
    let (results, deliveries) = (Locked<[String]>([]), Locked<[String]>([]))
    // At half the rate, so the second and the fourth frame are throttled.
    let cut = Pipeline.named("both").source(.frames([large, large, small, large]))
      .throttle(fps: 15).crop(x: 32, y: 32, width: 8, height: 8).luminance()
    let pipeline = Pipeline.combining(
      cut.sink("results") { result in
        switch result {
        case .success(let values): results.withLock { $0.append("\(values["mean"] ?? 0)") }
        case .failure(let failure): results.withLock { $0.append(failure.code) }
        }
      },
      cut.deliverySink("deliveries") { delivery in
        let isValue = if case .value = delivery.content { true } else { false }
        deliveries.withLock { $0.append("\(delivery.frame) \(isValue)") }
      })
    _ = try run(pipeline)
    #expect(results.withLock { $0 } == ["2.0", "crop.outside"])
    #expect(deliveries.withLock { $0 } == ["0:0 true", "0:1 false", "0:2 false", "0:3 false"])
  }

  @Test func `discard writes nothing and its ledger counts`() throws {
    let pipeline = Pipeline.named("none").source(.synthetic(scene(.pulse, frames: 5)))
      .luminance().discard()
    let (outcome, heard) = try run(pipeline)
    #expect(outcome.headline.delivered == 5)
    #expect(heard.frames.flatMap(\.result.outcomes).allSatisfy { $0.content == .facts([]) })
  }

  @Test func `a source in the graph that nothing is bound to says so`() throws {
    let pipeline = Pipeline.named("session").source(.session()).digest().results()
    #expect(throws: RuntimeError.self) { try run(pipeline) }
  }
}
