import Foundation
import Retake
import RetakeCommand

// The Swift code of the pages of DocC, compiled: each region between `// Sources/…/PAGE.md` and
// `// end` is one fenced block of that page, as in Samples.swift.

private func watch() throws {
  // Sources/EntryPoints/Retake/Retake.docc/Retake.md
  let pipeline = Pipeline.named("watch").source(.session())
    .gray().motion().results("boxes")
  let session = try SessionReader(opening: "Recordings/yard")
  let replay = try Replay(
    pipeline, reader: session, catalog: StageRegistry.builtIn,
    request: Replay.Request(sessionName: "yard", caseName: "watch"))
  let summary = try replay.run()
  print(summary.frames.delivered, summary.resultDigest)
  // end
}

private func slow() {
  // Sources/EntryPoints/Retake/Retake.docc/Concepts.md
  let pipeline = Pipeline.named("slow").source(.session())
    .gray()
    .motion().cost(.fixed(.milliseconds(45))).queue(capacity: 2, policy: .dropOldest)
    .results("boxes")
  // end
  _ = pipeline
}

// Sources/EntryPoints/Retake/Retake.docc/Concepts.md
final class DropLog: RunObserver {
  private(set) var drops: [FrameID] = []
  private(set) var delivered = 0

  var wantsDecisions: Bool { true }

  func decided(_ line: DecisionLine) {
    if line.kind == .drop, let frame = line.frame { drops.append(frame) }
  }

  func finished(_ frame: FinishedFrame) { delivered += 1 }
}
// end

private func decisions(of pipeline: Pipeline, _ session: SessionReader) throws {
  // Sources/EntryPoints/Retake/Retake.docc/Concepts.md
  let request = Replay.Request(caseName: "slow", options: RunOptions(mode: .simulate, workers: 4))
  let replay = try Replay(
    pipeline, reader: session, catalog: StageRegistry.builtIn, request: request)
  let log = DropLog()
  let summary = try replay.run(observers: [log])
  print(log.drops.count, summary.decisionDigest)
  // end
}

// Sources/EntryPoints/Retake/Retake.docc/WritingAStage.md
struct SharpnessOptions: StageOptions {
  var step = 1
}

struct Sharpness: PureStage {
  typealias Options = SharpnessOptions
  static let kind = "sharpness"
  static let summary = "the mean difference of pixels that are a step apart"
  static let inputFormats: [PixelFormat] = [.gray]
  let options: SharpnessOptions

  init(options: SharpnessOptions) throws {
    guard options.step > 0 else {
      throw OptionError(key: "step", message: "must be at least 1")
    }
    self.options = options
  }

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let pixels = frame.bytes(of: 0)
    let pairs = zip(pixels, pixels.dropFirst(options.step))
    let sum = pairs.reduce(0) { $0 + abs(Int($1.0) - Int($1.1)) }
    return Scalars([.init("sharpness", Double(sum) / Double(max(1, pixels.count)))])
  }
}
// end

// Sources/EntryPoints/Retake/Retake.docc/WritingAStage.md
struct Blink: StatefulStage {
  static let kind = "blink"
  private var last: Double?

  mutating func process(_ input: Scalars, _ context: StageContext) -> Scalars {
    let sharpness = input["sharpness"] ?? 0
    defer { last = sharpness }
    return Scalars([.init("blink", sharpness - (last ?? sharpness))])
  }

  mutating func reset() { last = nil }
}
// end

// Sources/EntryPoints/Retake/Retake.docc/WritingAStage.md
struct Exposed: PureStage {
  static let kind = "exposed"
  static let inputFormats: [PixelFormat] = [.gray]
  static let keepsInput = true  // the output uses the input's memory

  func process(_ frame: Frame, _ context: StageContext) throws -> Frame {
    guard frame.bytes(of: 0).contains(where: { $0 < 250 }) else {
      throw StageError(code: "exposed.white", message: "every pixel is white")
    }
    return frame
  }
}
// end

private func blinks() {
  // Sources/EntryPoints/Retake/Retake.docc/WritingAStage.md
  let pipeline = Pipeline.named("blinks").source(.session())
    .gray().stage(Exposed()).stage(Sharpness()).stage(Blink())
    .results()
  // end
  _ = pipeline
}

private func program(_ pipeline: Pipeline) {
  // Sources/EntryPoints/Retake/Retake.docc/WritingAStage.md
  RetakeCommand.main(
    stages: {
      $0.register(Sharpness.self)
      $0.register(Blink.self)
      $0.register(Exposed.self)
    }, pipelines: [pipeline])
  // end
}

private func coarse() {
  // Sources/EntryPoints/Retake/Retake.docc/Goldens.md
  let pipeline = Pipeline.named("coarse").source(.session()).gray().motion()
    .results("boxes", precision: ["box": 0.5, "score": 0.01])
  // end
  _ = pipeline
}

private func live(
  _ pipeline: Pipeline, _ frame: Frame, _ show: @escaping @Sendable (FrameResult) -> Void
) async throws {
  // Sources/EntryPoints/Retake/Retake.docc/Live.md
  let live = try LiveSession(
    pipeline, tracks: [LiveTrack(format: .nv12, width: 1280, height: 720)],
    catalog: StageRegistry.builtIn)
  Task { for await result in live.results { show(result.frame.result) } }

  live.push(frame)  // for each frame, from any thread; waits for nothing
  live.push(.thermal(.serious))

  let outcome = try await live.stop()
  // end
  _ = outcome
}

private func recorded(
  _ pipeline: Pipeline, _ frame: Frame,
  _ ended: @escaping @Sendable (Result<RecordingResult, any Error>) -> Void
) throws {
  // Sources/EntryPoints/Retake/Retake.docc/Live.md
  let source = PushSource(name: "front", framesPerSecond: 30)
  let recorder = try Recorder(
    source, options: RecorderOptions(name: "yard"),
    pipeline: LivePipeline(pipeline, registry: .builtIn))
  Thread { ended(Result { try recorder.run() }) }.start()

  source.push(frame)  // for each frame, from any thread; waits for nothing
  recorder.note(.thermal(.serious))

  source.finish()
  // end
}

private func reproduced() throws {
  // Sources/EntryPoints/Retake/Retake.docc/Live.md
  let session = try SessionReader(opening: "Recordings/yard")
  let report = try Reproduction(session, registry: .builtIn).run()
  if let first = report.divergence { print(first.recorded ?? "", first.reproduced ?? "") }
  // end
}
