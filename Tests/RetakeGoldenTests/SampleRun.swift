import Foundation
import RetakeCompare
import RetakeCore
import RetakeGraph
import RetakeTestSupport

@testable import RetakeGolden

/// A run of a small pipeline, camera → gray → motion* → boxes. A test can change every part before
/// it is written.
struct SampleRun {
  static let platform = "linux-x86_64-fma"
  static let columns = [
    StageColumn("camera"), StageColumn("grey", inputs: ["camera"]),
    StageColumn("motion", isStateful: true, inputs: ["grey"]),
  ]

  var manifest: GoldenManifest
  var columns = Self.columns
  var frames: [FrameResult]
  var rows: [StageRow]
  var decisions: [DecisionLine]
  var environment = ["libavcodec": "59.37.100"]
  var platform = Self.platform
  var sinks: [ResultHeader.Sink] = [.init("boxes")]
  var classes = ["motion"]
  /// Kept next to the results, if there is one.
  var pipeline: PipelineRecord? {
    didSet {
      manifest.pipeline.name = pipeline?.name ?? manifest.pipeline.name
      manifest.pipeline.digest = pipeline?.digest ?? manifest.pipeline.digest
    }
  }
  /// The zero of virtual time on the session's time line, in nanoseconds.
  var origin: Int64 = 0

  init(frames count: Int = 6) {
    manifest = GoldenManifest(
      input: .init(
        session: "yard", digest: Digest128(of: "yard"), tracks: ["camera": 0], frames: count,
        timeBase: [0: TimeBase(1, 30_000)]),
      testCase: .init(name: "motion", pipeline: "Pipelines/motion-boxes.json", mode: "every-frame"),
      pipeline: .init(
        name: "motion-boxes", digest: Digest128(of: "pipeline"),
        nodes: ["camera", "grey", "motion", "boxes"]),
      precision: ["boxes": .default])
    frames = (0..<count).map { sequence in
      FrameResult(
        id: FrameID(track: 0, sequence: sequence), pts: Int64(sequence) * 1_001,
        outcomes: [SinkOutcome(sink: "boxes", content: .facts([Self.box(sequence)]))])
    }
    rows = (0..<count).map { sequence in
      StageRow(
        frame: FrameID(track: 0, sequence: sequence), packet: Self.cell("packet", sequence),
        cells: ["camera", "grey", "motion"].map { Self.cell($0, sequence) })
    }
    decisions = (0..<count).flatMap { sequence in
      [DecisionKind.start, .done, .deliver].map { kind in
        DecisionLine(
          time: Self.time(sequence), node: kind == .deliver ? "boxes" : "motion",
          frame: FrameID(track: 0, sequence: sequence), kind: kind)
      }
    }
  }

  static func time(_ sequence: Int) -> Int64 { Int64(sequence) * 33_366_667 }

  static func box(_ sequence: Int, dx: Double = 0, score: Double = 0.9132) -> ResultFact {
    .detection(
      Detection(
        box: Box(x: 120 + Double(sequence % 50) + dx, y: 64, width: 32, height: 48), score: score))
  }

  static func cell(_ stage: String, _ sequence: Int, _ change: String = "") -> StageCell {
    StageCell(Digest128(of: "\(stage) \(sequence) \(change)"))
  }

  mutating func setFacts(_ facts: [ResultFact], at sequence: Int) {
    frames[sequence].outcomes[0].content = .facts(facts)
  }

  /// A different output of a stage from a frame on, and of all stages after it.
  mutating func changeStage(_ stage: Int, from sequence: Int) {
    for index in sequence..<rows.count {
      for column in stage..<columns.count {
        rows[index].cells[column] = Self.cell(columns[column].node, index, "changed")
      }
    }
  }

  mutating func drop(_ sequence: Int) {
    let frame = FrameID(track: 0, sequence: sequence)
    frames[sequence].outcomes[0].content = .ended(.dropped(.queue), node: "motion")
    rows[sequence].cells[2] = .notRun
    decisions.removeAll { $0.frame == frame }
    let time = Self.time(sequence)
    decisions += [
      DecisionLine(
        time: time, node: "motion", frame: frame, kind: .drop, details: [.init("reason", "queue")]),
      DecisionLine(time: time, node: "boxes", frame: frame, kind: .outcome),
    ]
    decisions.sort { $0.time < $1.time }
  }

  @discardableResult
  func write(to folder: GoldenFolder, run: RunSummary? = nil) throws -> GoldenManifest {
    let tracks = manifest.input.timeBase.sorted { $0.key < $1.key }.map {
      ResultHeader.Track($0.key, $0.value)
    }
    var plan = GoldenWriter.Plan(
      manifest: manifest,
      header: ResultHeader(key: "", tracks: tracks, sinks: sinks.map(\.path)), sinks: sinks,
      columns: columns, origin: origin,
      platform: PlatformKey.name(
        platform, models: manifest.models, devices: manifest.devices), environment: environment)
    plan.pipeline = pipeline
    let writer = try GoldenWriter(folder, plan: plan)
    writer.setClasses(classes, of: sinks[0].path)
    for decision in decisions { writer.append(decision) }
    for frame in frames { try writer.append(frame) }
    for row in rows { try writer.append(row) }
    return try writer.finish(run: run)
  }
}

/// A golden and a run in a temporary folder.
struct SampleFolders {
  let temporary: TemporaryFolder
  let golden: GoldenFolder
  let run: GoldenFolder

  init() throws {
    temporary = try TemporaryFolder("retake-golden")
    golden = GoldenFolder(
      root: temporary.file("Goldens"), session: "yard", testCase: "motion")
    run = GoldenFolder(temporary.file("run"))
  }

  /// The golden of one run compared with another run.
  static func compare(_ golden: SampleRun, _ actual: SampleRun) throws -> Comparison {
    let folders = try SampleFolders()
    try golden.write(to: folders.golden)
    try actual.write(to: folders.run)
    return try folders.compare()
  }

  func compare() throws -> Comparison {
    try GoldenComparator(
      golden: golden, actual: run, options: .init(platform: SampleRun.platform)
    ).compare()
  }
}
