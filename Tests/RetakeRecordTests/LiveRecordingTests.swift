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

/// A pipeline that runs next to a recorder, and its record in the session.
@Suite struct LiveRecordingTests {
  @Test func `what a pipeline was told and decided is in the session, beside every frame`() throws {
    let folder = try TemporaryFolder("retake-live")
    let recorder = try Recorder(
      try Scene(30).source, options: .test(folder, preset: .ffv1),
      machine: Recorder.Machine(), pipeline: Self.live)
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
    let timings = try session.recordedTimings()
    #expect(timings.spanCount == events.count { $0.kind == "completion" })
  }

  @Test
  func `each commit says how the pipeline stands, and the last one what became of all frames`()
    throws
  {
    let folder = try TemporaryFolder("retake-live")
    let reports = Reports()
    let result = try Recorder(
      try Scene(200).source, options: .test(folder), machine: Recorder.Machine(),
      pipeline: Self.live
    ) { reports.add($0) }.run()
    let last = try #require(reports.all.last)
    #expect(last.closed)
    let pipeline = try #require(last.pipeline)
    #expect(pipeline == result.progress.pipeline)
    #expect(pipeline.produced == 200)
    #expect(pipeline.accepted + pipeline.dropped == 200)
    let outcome = try #require(try result.pipeline?.get())
    #expect(pipeline.frames == outcome.headline && pipeline.dropped == outcome.lostBeforeCapture)
    let run = try SessionReader(opening: result.folder.path).liveRun()
    #expect(try run.results(from: 0).count == pipeline.results)
    let decoded = try JSONDecoder().decode(
      RecordingProgress.self, from: JSONEncoder().encode(last))
    #expect(decoded == last)
  }

  @Test func `the progress counts the drops of each stage, by reason`() throws {
    let folder = try TemporaryFolder("retake-live")
    let gate = Gate()
    // The stage holds its first frame until another one was dropped because of it.
    let watch = RecordingWatch(
      captured: { _ in },
      decided: { lines in if lines.contains(where: { $0.kind == .drop }) { gate.open() } })
    let result = try Recorder(
      try Scene(30).source, options: .test(folder), machine: Recorder.Machine(),
      pipeline: Self.live(AnyStage(Held(gate))), watch: watch
    ).run()
    let progress = try #require(result.progress.pipeline)
    let stages = try #require(progress.stages)
    #expect(stages.map(\.node) == ["sum"])
    #expect(stages[0].dropped == progress.frames.dropped)
    #expect((stages[0].dropped["queue"] ?? 0) > 0)
    let run = try SessionReader(opening: result.folder.path).liveRun()
    let drops = try run.decisions(from: 0).count { $0.contains(" drop ") }
    #expect(stages[0].dropped["queue"] == drops)
  }

  @Test func `a watch hears of every frame in order, and of what was found`() throws {
    let folder = try TemporaryFolder("retake-live")
    let (frames, results) = (Locked<[FrameID]>([]), Locked<[FrameID]>([]))
    let watch = RecordingWatch(
      captured: { frame in frames.withLock { $0.append(frame.id) } },
      found: { result in results.withLock { $0.append(result.frame.result.id) } })
    let result = try Recorder(
      try Scene(30).source, options: .test(folder), machine: Recorder.Machine(),
      pipeline: Self.live, watch: watch
    ).run()
    #expect(frames.withLock { $0 } == (0..<30).map { FrameID(track: 0, sequence: $0) })
    let outcome = try #require(try result.pipeline?.get())
    #expect(results.withLock { $0 }.count == outcome.headline.captured)
  }

  @Test func `a camera that goes and comes back is an event of the live run`() throws {
    let folder = try TemporaryFolder("retake-live")
    let changes = Locked<[SourceChange]>([])
    let watch = RecordingWatch(sourceChanged: { change in changes.withLock { $0.append(change) } })
    let result = try Recorder(
      LeavingCamera(), options: .test(folder), machine: Recorder.Machine(), pipeline: Self.live,
      watch: watch
    ).run()
    #expect(changes.withLock { $0 } == [.silent, .gone(cause: "unplugged")])
    let back = SourceWatch.Note.back(gapNanoseconds: 3_200_000_000, attempts: 2)
    #expect(SourceChange(kind: back.kind, json: back.json) == .back(after: .milliseconds(3_200)))
    #expect(SourceChange(kind: "source.moved", json: back.json) == nil)
    #expect(result.end == .failed && result.failure?.code == "record.source.lost")
    let run = try SessionReader(opening: result.folder.path).liveRun()
    let lost = try run.events(from: 0).filter { $0.kind == "sourceLost" }
    #expect(
      lost.map(\.json) == [
        #"{"code":"source.stalled","track":0}"#, #"{"code":"source.lost","track":0}"#,
        #"{"code":"source.lost","track":0}"#,
      ])
    #expect(try run.events(from: 0).count { $0.kind == "arrival" } == 12)
  }

  private static var live: LivePipeline { live(AnyStage(Sum())) }

  private static func live(_ stage: AnyStage) -> LivePipeline {
    var live = LivePipeline(pipeline(stage), registry: StageRegistry())
    live.watchesDevice = false
    return live
  }

  @Test func `a session without a pipeline has no live run, and says how to record one`() throws {
    let folder = try TemporaryFolder("retake-live")
    let result = try record(Scene(3), options: .test(folder))
    let session = try SessionReader(opening: result.folder.path)
    #expect(code { try session.liveRun() } == "session.run.none")
  }

  @Test func `a live stage reads what a replay of its session reads`() throws {
    let folder = try TemporaryFolder("retake-live")
    let (board, read) = (Locked<Recorder?>(nil), Locked<[FrameID: SensorReading]>([:]))
    // Samples follow each frame, so that the next frame finds newer samples.
    let watch = RecordingWatch(captured: { frame in
      guard let recorder = board.withLock({ $0 }) else { return }
      for part: Int64 in 0..<3 {
        let time = frame.timestamp + part * 5_000_000
        recorder.push(to: 0, [Double(frame.id.sequence), Double(part)], time: time)
      }
    })
    let recorder = try Recorder(
      try Scene(30).source, options: .test(folder, preset: .ffv1),
      machine: Recorder.Machine(), pipeline: Self.live(AnyStage(Sensing(read))), watch: watch)
    board.withLock { $0 = recorder }
    #expect(try recorder.addSensor("imu", unit: "g", channels: ["frame", "part"]) == 0)
    #expect(code { try recorder.addSensor("imu", channels: ["x"]) } == "sensor.name.taken")
    #expect(!recorder.push(to: 0, [1]) && !recorder.push(to: 7, [1, 2]))
    let result = try recorder.run()
    board.withLock { $0 = nil }

    let session = try SessionReader(opening: result.folder.path)
    #expect(session.sensors.map(\.sampleCount) == [90] && session.sensors[0].source == "live")
    #expect(try session.index.store.checkSamples().isEmpty)
    let sensors = try #require(session.sensorReader)
    let seen = read.withLock { $0 }
    #expect(!seen.isEmpty)
    for (frame, reading) in seen {
      let row = try #require(try session.index.store.frame(frame))
      let (pts, arrival) = (
        Timestamp(nanoseconds: row.ptsNanoseconds), Timestamp(nanoseconds: row.arrivalNanoseconds)
      )
      #expect(
        try sensors.latest(of: 0, at: arrival, arrivedBy: arrival) == reading.latest, "\(frame)")
      #expect(
        try sensors.samples(of: 0, after: pts - 70_000_000, upTo: pts, arrivedBy: arrival)
          == reading.window, "\(frame)")
    }
  }

  @Test func `a live stage whose sensor was not added is refused before there is a folder`() throws
  {
    let folder = try TemporaryFolder("retake-live")
    let recorder = try Recorder(
      try Scene(3).source, options: .test(folder), machine: Recorder.Machine(),
      pipeline: Self.live(AnyStage(Sensing(Locked([:])))))
    #expect(code { try recorder.run() } == "record.sensor.unknown")
  }

  private static func pipeline(_ stage: AnyStage) -> Pipeline {
    Pipeline(
      name: "beside",
      nodes: [
        PipelineNode(
          id: "camera",
          stage: AnyStage(
            signature: StageSignature(
              kind: AnyStage.sessionKind, version: 1, role: .source, input: nil, output: .frame),
            options: .object(["track": .integer(0)]), body: .source(SessionSource(track: 0)))),
        PipelineNode(id: "sum", stage: stage),
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
}

/// Stops sending, is unplugged, comes back each time, and finally does not come back.
private struct LeavingCamera: RecordingSource {
  let description = SourceDescription(name: "leaving", timeBase: TimeBase(1, 30))

  func open() -> any FrameStream { Stream() }

  private final class Stream: FrameStream {
    private let scene = Scene(12)
    private var given = 0
    private var notes: [SourceWatch.Note] = [.stalled, .lost(cause: "unplugged")]

    func next() -> SourceFrame? { nil }

    func item() throws -> SourceItem {
      if given == 4 * (3 - notes.count), !notes.isEmpty {
        let note = notes.removeFirst()
        return .note(kind: note.kind, json: note.json)
      }
      guard given < 12 else { throw SourceGone(cause: "no such device") }
      defer { given += 1 }
      var frame = scene.frame(FrameID(track: 0, sequence: given))
      frame.timestamp = Timestamp(nanoseconds: Int64(given) * 33_000_000)
      return .frame(SourceFrame(frame: frame, pts: Int64(given)))
    }
  }
}

private struct Sum: PureStage {
  static let kind = "sum"

  init() {}
  init(options: NoOptions) {}

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    Scalars([.init("sum", Double(frame.bytes(of: 0).sum))])
  }
}

/// Keeps its readings of the sensor `imu`.
private struct Sensing: PureStage {
  static let kind = "sensing"
  private let read: Locked<[FrameID: SensorReading]>

  init(_ read: Locked<[FrameID: SensorReading]>) { self.read = read }
  init(options: NoOptions) { self.init(Locked([:])) }

  var sensors: [SensorRead] { [.window("imu", .milliseconds(70))] }

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let reading = context.sensor("imu")
    read.withLock { $0[context.frame] = reading }
    return Scalars([.init("samples", Double(reading.window.count))])
  }
}

/// A stage that waits in its first frame until the gate is open.
private struct Held: PureStage {
  static let kind = "held"
  private let gate: Gate

  init(_ gate: Gate) { self.gate = gate }
  init(options: NoOptions) { self.init(Gate()) }

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    gate.pass()
    return Scalars([])
  }
}

/// Stays open once it was opened.
private final class Gate: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func open() { semaphore.signal() }

  func pass() {
    semaphore.wait()
    semaphore.signal()
  }
}
