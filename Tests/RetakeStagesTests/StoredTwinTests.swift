import Foundation
import Retake
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeRuntime
import RetakeStages
import RetakeTestSupport
import Testing

/// Gives each box the identity of the nearest box of the frame before.
private struct Track: StatefulStage {
  static let kind = "track"
  private var last: [Detection] = []
  private var next = 0

  init() {}

  mutating func process(_ found: Detections, _ context: StageContext) -> Detections {
    var tracked = found
    for index in tracked.items.indices {
      let box = tracked.items[index].box
      let near = last.min { distance($0.box, box) < distance($1.box, box) }
      if let near, distance(near.box, box) < 40 {
        tracked.items[index].identity = near.identity
      } else {
        tracked.items[index].identity = next
        next += 1
      }
    }
    last = tracked.items
    return tracked
  }

  private func distance(_ one: Box, _ other: Box) -> Double {
    let (x, y) = (one.x + one.width / 2 - other.x - other.width / 2, one.y - other.y)
    return (x * x + y * y).squareRoot()
  }

  mutating func reset() { (last, next) = ([], 0) }
}

/// Counts the objects so far, and raises an alarm when several are in view.
private struct Count: StatefulStage {
  static let kind = "count"
  private var seen: Set<Int> = []

  init() {}

  mutating func process(_ tracked: Detections, _ context: StageContext) -> Scalars {
    seen.formUnion(tracked.items.compactMap(\.identity))
    return Scalars([
      .init("objects", Double(seen.count)), .init("alarm", tracked.items.count > 2 ? 1 : 0),
    ])
  }

  mutating func reset() { seen = [] }
}

/// Writes a run's results as a golden has them, and as result lines.
private final class Writer: RunObserver {
  private static let sinks = ["boxes", "counts", "tracks"]
  private static let header = ResultHeader(
    key: "figures/watch", tracks: [.init(0, TimeBase(1, 30))], sinks: sinks)
  private var results = ResultWriter(header: header, sinks: sinks.map { .init($0) })
  private var json = ResultJSON(sinks: sinks.map { .init($0) })
  private(set) var lines = ""
  private(set) var chunks: [ResultChunkText] = []

  func finished(_ frame: FinishedFrame) {
    for (outcome, names) in zip(frame.result.outcomes, frame.classNames) where !names.isEmpty {
      results.setClasses(names, of: outcome.sink)
    }
    if let chunk = results.append(frame.result) { chunks.append(chunk) }
    lines += json.line(
      of: .init(
        frame.result, arrivalNanoseconds: frame.arrivalNanoseconds,
        deliveries: frame.result.outcomes.map { _ in nil }, classNames: frame.classNames))
  }

  func finish() -> Digest128 {
    if let last = results.finish() { chunks.append(last) }
    return results.digest
  }
}

/// A pipeline with a detector, and its twin with the detector's stored results.
@Suite struct StoredTwinTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("twins") }

  private func pipeline(
    frames: Int, width: Int = 160, height: Int = 120, cost: Cost? = nil,
    _ detector: (PipelineChain<Frame>) throws -> PipelineChain<Detections>
  ) rethrows -> Pipeline {
    let scene = SyntheticOptions(scene: .figures, width: width, height: height, frames: frames)
    // Gray, because only `motion` would get a conversion of its own, with decisions.
    var found = try detector(
      Pipeline.named("watch").source(.synthetic(scene)).downsample(width: 120, height: 90)
        .gray())
    if let cost { found = found.cost(cost).queue(capacity: 1, policy: .dropOldest) }
    let tracked = found.stage(Track(), id: "track")
    return Pipeline.combining(
      found.results("boxes"), tracked.results("tracks"),
      tracked.stage(Count(), id: "count").results("counts"))
  }

  private func run(
    _ pipeline: Pipeline, workers: Int = 1, mode: RunOptions.Mode = .everyFrame
  ) throws -> (result: Digest128, decisions: Digest128, writer: Writer) {
    let writer = Writer()
    var options = RunOptions(workers: workers)
    options.mode = mode
    let outcome = try PreparedRun(pipeline, catalog: StageRegistry.builtIn)
      .run(options, observer: writer)
    return (writer.finish(), outcome.decisionDigest, writer)
  }

  private func write(_ writer: Writer) throws -> (golden: String, lines: String) {
    for chunk in writer.chunks { try Data(chunk.bytes).write(to: folder.file(chunk.name)) }
    try folder.write(writer.lines, to: "lines.jsonl")
    return (folder.file(ResultChunkText.name(0)).path, folder.file("lines.jsonl").path)
  }

  @Test(arguments: [RunOptions.Mode.everyFrame, .simulate])
  func `a twin with stored detections has the results and decisions of the pipeline, bit for bit`(
    mode: RunOptions.Mode
  ) throws {
    let cost = mode == .simulate ? Cost.fixed(.milliseconds(50)) : nil
    let first = try run(
      pipeline(frames: 90, cost: cost) { $0.motion(options: MotionOptions(), id: "found") },
      mode: mode)
    let files = try write(first.writer)
    #expect(first.writer.lines.contains("\"drop\"") == (mode == .simulate))
    for file in [files.golden, files.lines] {
      for workers in [0, 1, 2, 4, 8] {
        let twin = try run(
          pipeline(frames: 90, cost: cost) {
            try $0.detections(file: file, sink: "boxes", id: "found")
          }, workers: workers, mode: mode)
        #expect(twin.result == first.result, "\(workers) workers, \(file)")
        #expect(twin.decisions == first.decisions, "\(workers) workers, \(file)")
      }
    }
  }

  @Test func `all results files of a golden are read, and a frame that none has fails`() throws {
    let motion = try run(
      pipeline(frames: 1_100, width: 32, height: 24) {
        $0.motion(options: MotionOptions(), id: "found")
      })
    let file = try write(motion.writer).golden
    #expect(motion.writer.chunks.count == 2)
    let second = folder.file(ResultChunkText.name(1))
    func stored() throws -> Pipeline {
      try pipeline(frames: 1_100, width: 32, height: 24) {
        try $0.detections(file: file, sink: "boxes", id: "found")
      }
    }
    let twin = try stored()
    #expect(try run(twin).result == motion.result)
    let fingerprint = try #require(twin.nodes.first { $0.id == "found" }?.stage.fingerprint)
    #expect(fingerprint.split(separator: " ").count == 2)
    try FileManager.default.removeItem(at: second)
    let cut = try stored()
    #expect(cut.nodes.first { $0.id == "found" }?.stage.fingerprint != fingerprint)
    let lines = try run(cut).writer.lines.split(separator: "\n")
    let failed = lines.filter { $0.contains("\"reason\":\"detections.noFrame\"") }
    #expect(failed.count == 76 && lines.suffix(76) == failed[...])
    let last = String(decoding: motion.writer.chunks[1].bytes, as: UTF8.self)
    for (text, code) in [
      ("#retake 1", "core.results.header"),
      (
        last.replacing("key=figures/watch", with: "key=figures/other"), "stages.detections.otherRun"
      ),
      (
        last.replacing("sinks=boxes,counts", with: "sinks=boxes,others"),
        "stages.detections.otherRun"
      ),
      (
        String(decoding: motion.writer.chunks[0].bytes, as: UTF8.self), "stages.detections.otherRun"
      ),
    ] {
      try folder.write(text, to: ResultChunkText.name(1))
      let error = #expect(throws: (any Error).self) { try stored() }
      #expect(error?.facts.code == code)
    }
  }
}
