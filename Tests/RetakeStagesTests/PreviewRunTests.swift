import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTimePlane
import Testing

/// Previews in virtual time: a camera at 60 frames per second, a screen of 60 hertz.
@Suite struct PreviewRunTests {
  private final class Listener: RunObserver {
    var wantsDecisions: Bool { true }
    var lines: [DecisionLine] = []
    func decided(_ line: DecisionLine) { lines.append(line) }
    func finished(_ frame: FinishedFrame) {}

    func sequences(_ kind: String) -> [Int] {
      lines.filter { $0.kind.rawValue == kind }.compactMap { $0.frame?.sequence }
    }
  }

  private func camera(_ frames: Int, buffers: Int = 3) -> PipelineChain<Frame> {
    Pipeline.named("preview")
      .source(
        .synthetic(
          SyntheticOptions(scene: .figures, width: 32, height: 16, fps: 60, frames: frames))
      )
      .pool("camera").pool("camera", capacity: buffers)
  }

  private func vision(
    _ frames: PipelineChain<Frame>, _ cost: Cost
  ) -> PipelineChain<Detections> {
    frames.copy().queue(capacity: 1, policy: .replace).cost(.fixed(.milliseconds(1)))
      .gray().queue(capacity: 1, policy: .replace)
      .motion().queue(capacity: 1, policy: .replace).cost(cost)
  }

  private func run(
    _ pipeline: Pipeline, workers: Int = 1, mode: RunOptions.Mode = .simulate,
    overrides: [RunOverride] = []
  ) throws -> (RunOutcome, Listener) {
    var options = RunOptions(mode: mode, workers: workers)
    options.overrides = overrides
    let listener = Listener()
    return (
      try PreparedRun(pipeline, catalog: StageRegistry.builtIn).run(options, observer: listener),
      listener
    )
  }

  @Test(arguments: [0, 1, 2, 4])
  func `beside slow vision every frame is seen, each at the next refresh`(workers: Int) throws {
    let frames = camera(300)
    let pipeline = frames.preview(
      of: vision(frames, .uniform(.milliseconds(50), .milliseconds(200))))
    let (outcome, heard) = try run(pipeline, workers: workers)
    let screen = try #require(outcome.screens.first)
    #expect(screen.sink == "preview")
    #expect(heard.sequences("vsync") == Array(0..<300))
    #expect((screen.shown, screen.repeats, screen.unseen) == (300, 0, 0))
    #expect(outcome.lostBeforeCapture == 0 && outcome.headline.droppedTotal == 0)
    // Drawn within 4 ms, visible one refresh after the arrival.
    #expect(screen.latencyMax <= 16_666_668 && screen.latencyMean >= 16_666_666)
  }

  @Test func `a detector that hangs delays nothing`() throws {
    let frames = camera(240)
    let hung = frames.preview(of: vision(frames, .fixed(.seconds(3_600))))
    let (outcome, heard) = try run(hung)
    #expect(heard.sequences("vsync") == Array(0..<240))
    #expect(outcome.screens.first?.repeats == 0)
    #expect(outcome.screens.first?.latencyMax ?? 0 <= 16_666_668)
  }

  @Test func `a detector that keeps the camera's buffers starves the preview`() throws {
    let frames = camera(240, buffers: 2)
    let byReference = frames.gray().queue(capacity: 1, policy: .replace)
      .motion().queue(capacity: 1, policy: .replace).cost(.fixed(.milliseconds(120)))
    let (outcome, _) = try run(frames.preview(of: byReference))
    // The camera has two buffers: the detector works on one, and its next frame waits in the other.
    #expect(outcome.lostBeforeCapture > 120)
    #expect((outcome.screens.first?.shown ?? 0) + outcome.lostBeforeCapture == 240)
    let copies = try run(frames.preview(of: vision(frames, .fixed(.milliseconds(120)))))
    #expect(copies.0.lostBeforeCapture == 0)
  }

  @Test func `at 17 ms a frame exactly those are dropped that come while two are behind`() throws {
    var model = PreviewModel()
    model.render = .fixed(.milliseconds(17))
    let frames = camera(300)
    let pipeline = frames.preview(
      of: vision(frames, .fixed(.milliseconds(100))), model: model)
    let (outcome, heard) = try run(pipeline)
    // Computed by hand: frame n arrives at n/60 s; one is in service, one may wait.
    var busyUntil: Int64 = 0
    var waiting: [Int64] = []
    var dropped: [Int] = []
    for sequence in 0..<300 {
      let arrival = Int64(sequence) * 1_000_000_000 / 60
      while let first = waiting.first, max(busyUntil, first) <= arrival {
        busyUntil = max(busyUntil, first) + 17_000_000
        waiting.removeFirst()
      }
      if !waiting.isEmpty { dropped.append(sequence) } else { waiting.append(arrival) }
    }
    #expect(heard.sequences("drop") == dropped)
    #expect(dropped.count >= 4 && dropped.count <= 7)
    #expect(outcome.headline.dropped == ["queue": dropped.count])
    #expect((outcome.screens.first?.shown ?? 0) == 300 - dropped.count)
  }

  @Test func `with two buffers a screen shows late pictures at half its rate`() throws {
    var model = PreviewModel()
    model.render = .fixed(.milliseconds(17))
    model.screenBuffers = 2
    let frames = camera(300)
    let (outcome, _) = try run(
      frames.preview(of: vision(frames, .fixed(.milliseconds(100))), model: model))
    let screen = try #require(outcome.screens.first)
    #expect(abs(screen.shown - 150) <= 2)
    #expect(screen.shown + outcome.headline.droppedTotal == 300)
  }

  @Test func `heat halves the rate, and it comes back`() throws {
    let frames = camera(360)
    let pipeline = frames.preview(of: vision(frames, .fixed(.milliseconds(100))))
    let (_, heard) = try run(
      pipeline,
      overrides: [
        .event(atNanoseconds: 2_000_000_000, .thermal(.serious)),
        .event(atNanoseconds: 4_000_000_000, .thermal(.nominal)),
      ])
    let seen = heard.lines.filter { $0.kind == .vsync }
    func count(_ seconds: Range<Int64>) -> Int {
      seen.count { seconds.contains($0.time / 1_000_000_000) }
    }
    #expect(count(0..<2) == 119 || count(0..<2) == 120)
    #expect(abs(count(2..<4) - 60) <= 1)
    #expect(abs(count(4..<6) - 120) <= 1)
    #expect(heard.lines.filter { $0.kind == .throttle }.count == 2)
  }

  @Test func `in every-frame mode there is no screen to wait for, and all is drawn`() throws {
    let frames = camera(60)
    let pipeline = frames.preview(of: vision(frames, .fixed(.milliseconds(100))))
    let (outcome, heard) = try run(pipeline, mode: .everyFrame)
    #expect(outcome.screens.isEmpty && heard.sequences("vsync").isEmpty)
    #expect(outcome.headline.delivered == 60)
  }

  @Test func `the word and a document are the same graph`() throws {
    let frames = camera(30)
    let pipeline = frames.preview(of: vision(frames, .fixed(.milliseconds(100))))
    let text = try PipelineDocument.json(of: pipeline).canonicalText
    let read = try PipelineDocument.parse(Data(text.utf8), catalog: StageRegistry.builtIn)
    #expect(try PipelineDocument.json(of: read).canonicalText == text)
    #expect(text.contains("\"screen\"") && text.contains("\"overlay\""))
    let one = try run(pipeline).0
    let two = try run(read).0
    #expect(one.decisionDigest == two.decisionDigest)
  }

  @Test func `a screen without a rate is refused`() throws {
    for hertz in ["0", "-1", "1001", "0.0001"] {
      let document = """
        {"v": 1, "nodes": [{"id": "camera", "kind": "session"},
         {"id": "screen", "kind": "screen", "options": {"hertz": \(hertz)}}],
         "edges": [{"from": "camera", "to": "screen"}]}
        """
      #expect {
        try PipelineDocument.parse(Data(document.utf8), catalog: StageRegistry.builtIn)
      } throws: { "\($0)".contains("'hertz' must be above 0 and at most 1000") }
    }
  }
}
