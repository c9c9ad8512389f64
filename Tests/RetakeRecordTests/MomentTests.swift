import Foundation
import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia
import RetakeRuntime
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

/// Moments at which two pipelines disagree.
@Suite struct MomentTests {
  // MARK: Decisions

  private struct Kept: Equatable {
    /// The source's numbers of the kept frames.
    var frames: [Int] = []
    /// The session's numbers of the first frames of the moments.
    var moments: [Int] = []
    /// The session's numbers of frames with results, in the order of the results.
    var results: [Int] = []
    var epochs: Set<Int> = []
    var counts = ShadowProgress()
  }

  /// Frames at 10 per second. A letter is a compared frame: `.` equal, `d` different, `-` not
  /// compared. Keeps 0.3 s before and 0.5 s after 2 different frames in a row, then waits 1 s.
  ///
  /// - Parameters:
  ///   - lag: Number of frames that arrive before a frame is compared.
  ///   - keys: Each of these many frames can be decoded alone.
  private func keep(
    _ frames: String, lag: Int = 0, keys: Int = 1, bytesMax: Int = 100_000
  ) throws -> Kept {
    var trigger = DisagreementTrigger()
    (trigger.frames, trigger.after, trigger.cooldown) = (2, .milliseconds(500), .seconds(1))
    var ring = MomentRing(PreTriggerRing(nanoseconds: 300_000_000, bytesMax: bytesMax), trigger)
    var kept = Kept()
    func note(_ outputs: [MomentRing.Output]) {
      for output in outputs {
        switch output {
        case .row(.frame(let record, let encoded)):
          #expect(record.sequence == kept.frames.count, "numbered without gaps")
          kept.frames.append(Int(record.pts ?? -1))
          kept.epochs.insert(encoded?.epoch.number ?? -1)
        case .row: break
        case .results(_, let sequence):
          #expect(sequence < kept.frames.count, "after the row of their frame")
          kept.results.append(sequence)
        case .moment(_, let sequence): kept.moments.append(sequence)
        }
      }
    }
    let letters = Array(frames)
    for number in 0..<letters.count + lag {
      if number < letters.count { note(ring.add(try row(number, isKey: number % keys == 0))) }
      guard number >= lag else { continue }
      let measure: Double? =
        switch letters[number - lag] {
        case "d": 1
        case ".": 0.5
        default: nil
        }
      note(
        ring.add(
          .compared(
            ComparedFrame(
              sequence: number - lag, arrivalNanoseconds: Int64(number - lag) * 100_000_000,
              disagreement: measure, results: [nil, nil]))))
    }
    kept.counts = ring.counts
    return kept
  }

  private func row(_ number: Int, isKey: Bool) throws -> RecordedRow {
    let stream = MediaStream(
      video: "mjpeg", width: 64, height: 48, pixelFormatName: "yuv420p", range: .limited,
      matrix: .bt601, sampleAspect: .square, timeBase: TimeBase(1, 10))
    let packet = try MediaPacket(
      index: number, pts: Int64(number), dts: nil, flags: isKey ? .key : [],
      bytes: [UInt8](repeating: 7, count: 100))
    let record = FrameRecord(
      track: 0, sequence: number, pts: Int64(number), ptsNanoseconds: Int64(number) * 100_000_000,
      arrivalNanoseconds: Int64(number) * 100_000_000, packet: nil)
    let epoch = StreamEpoch(number: 0, stream: stream, shape: "64x48")
    return .frame(record, EncodedFrame(epoch: epoch, packet: packet))
  }

  @Test(arguments: [0, 1, 4, 12])
  func `frames around two different ones are kept, however late they are compared`(lag: Int) throws
  {
    let kept = try keep("..........ddd.................", lag: lag)
    #expect(kept.frames == Array(7...15))
    #expect(kept.moments == [3])
    #expect(kept.results.sorted() == Array(0..<9), "each kept frame has its results, once")
    #expect(kept.counts.compared == 30 && kept.counts.disagreeing == 3)
    #expect(kept.counts.momentCount == 1)
    #expect(kept.counts.moments.map(\.frame) == [FrameID(track: 0, sequence: 3)])
  }

  @Test func `a clip begins with a frame that can be decoded alone`() throws {
    let kept = try keep("..........dd.................", lag: 2, keys: 5)
    #expect(kept.frames == Array(5...15) && kept.moments == [5])
  }

  @Test(arguments: [
    "..............................", ".d..d..d..d..d..d..d..d..d..d.",
    "------------------------------",
    ".....d-----.-----d------......",
  ])
  func `equal frames, single different ones and frames without results keep nothing`(
    _ frames: String
  ) throws {
    for lag in [0, 5] {
      let kept = try keep(frames, lag: lag)
      #expect(kept.frames == [] && kept.moments == [] && kept.counts.momentCount == 0)
      #expect(kept.counts.notCompared == frames.count { $0 == "-" })
    }
  }

  @Test func `a frame without results neither ends nor continues a row`() throws {
    let kept = try keep("..........d-d.................", lag: 1)
    #expect(kept.frames == Array(7...15) && kept.counts.notCompared == 1)
  }

  @Test func `lasting differences keep one moment for each cooldown`() throws {
    let kept = try keep(String(repeating: "d", count: 50), lag: 3)
    // The moments begin later than a second after the end of the one before: 0, 16, 32, 48.
    #expect(kept.frames == Array(0...5) + Array(13...21) + Array(29...37) + Array(45...49))
    #expect(kept.counts.momentCount == 4 && kept.moments == [0, 9, 18, 27])
    #expect(kept.counts.withinCooldown > 0)
    #expect(kept.epochs == [0, 1, 2, 3], "a gap begins a segment")
  }

  @Test func `a frame that memory cannot hold until it is compared is lost, and no other`() throws {
    let kept = try keep("..........dd.................", lag: 8, bytesMax: 500)
    #expect(kept.frames.last == 15 && (kept.frames.first ?? 0) > 10)
    #expect(kept.frames == Array((kept.frames.first ?? 0)...15) && kept.moments == [0])
  }

  // MARK: Recordings

  /// - Parameter planted: The source's numbers of frames whose sum is another one in the shadow.
  private func pipelines(
    planted: [Range<Int>], frames: Int, shadowGate: Gate? = nil
  ) -> (LivePipeline, ShadowPipeline) {
    let scene = Scene(frames)
    let sums = Set(
      planted.joined().map { Sum.of(scene.frame(FrameID(track: 0, sequence: $0))) })
    var trigger = DisagreementTrigger()
    (trigger.after, trigger.cooldown) = (.milliseconds(500), .zero)
    let new = live("new", AnyStage(Sum(planted: sums, gate: shadowGate)))
    return (live("old", AnyStage(Sum())), shadow(new, trigger))
  }

  private func shadow(_ live: LivePipeline, _ trigger: DisagreementTrigger) -> ShadowPipeline {
    ShadowPipeline(live, trigger: trigger) { _ in
      { one, other in
        guard let one = sum(of: one), let other = sum(of: other) else { return nil }
        return abs(one - other)
      }
    }
  }

  private func live(_ name: String, _ stage: AnyStage) -> LivePipeline {
    var live = LivePipeline(
      Pipeline(
        name: name,
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
        ]), registry: StageRegistry(), options: LiveOptions(workers: 2))
    live.watchesDevice = false
    return live
  }

  /// Records 120 frames at 30 per second, with a ring of 300 ms. The source waits until both
  /// pipelines have finished a frame, so that no frame is dropped.
  private func recordMoments(
    in folder: TemporaryFolder, planted: Range<Int>...
  ) throws -> RecordingResult {
    try recordMoments(in: folder, of: pipelines(planted: planted, frames: 120))
  }

  private func recordMoments(
    in folder: TemporaryFolder, of pipelines: (LivePipeline, ShadowPipeline)
  ) throws -> RecordingResult {
    let (first, shadow) = pipelines
    var options = RecorderOptions.test(folder, preset: .ffv1)
    options.ring = .milliseconds(300)
    let finished = Countdown()
    var paced = shadow
    paced.measure = { tracks in
      let measure = try shadow.measure(tracks)
      return { one, other in
        defer { finished.signal() }
        return measure(one, other)
      }
    }
    let watch = RecordingWatch(captured: { _ in finished.wait() })
    return try Recorder(
      try Scene(120).source, options: options, machine: Recorder.Machine(), pipeline: first,
      shadow: paced,
      watch: watch
    ).run()
  }

  @Test func `the clip around a planted disagreement is kept, with the results of both pipelines`()
    throws
  {
    let folder = try TemporaryFolder()
    let result = try recordMoments(in: folder, planted: 60..<64)
    let shadow = try #require(result.progress.shadow)
    #expect(shadow.momentCount == 1 && shadow.compared == 120 && shadow.disagreeing == 4)
    #expect(shadow.moments.map(\.frame) == [FrameID(track: 0, sequence: 9)])
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.all.map(\.pts) == (51...75).map(Int64.init))
    #expect(rows.all.map(\.sequence) == Array(0..<25))
    #expect(result.progress.passed + rows.all.count == 120 && result.status == .clean)
    let event = try #require(rows.events.first)
    #expect(rows.events.map(\.kind) == ["pipelines.disagreed"])
    #expect(event.json.contains(#""frame":"0:9""#) && event.json.contains(#""name":"old""#))
    #expect(event.json.contains(#""name":"new""#) && event.json.contains(#""digest":""#))
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().findings == [])

    let session = try SessionReader(opening: result.folder.path)
    #expect(code { try session.liveRun() } == "session.run.none", "its decisions are not stored")
    let runs = try session.index.store.runs()
    #expect(runs.map(\.run) == [0, 1])
    #expect(runs.map(\.kind) == ["compared", "compared"])
    for run in 0..<2 {
      let lines = try session.index.store.results(run: run, from: 0, count: 100)
      #expect(lines.map(\.ordinal) == Array(0..<25))
      for (sequence, line) in lines.enumerated() {
        let frame = try session.frame(FrameID(track: 0, sequence: sequence))
        let isPlanted = run == 1 && (9..<13).contains(sequence)
        let sum = Sum.of(frame) + (isPlanted ? 1_000 : 0)
        #expect(line.line.contains(#""sequence":\#(sequence),"#), "\(line.line)")
        #expect(line.line.contains(#""scalars":[{"name":"sum","value":\#(sum)}]"#), "\(line.line)")
      }
    }
  }

  @Test func `two moments are two segments of one session`() throws {
    let folder = try TemporaryFolder()
    let result = try recordMoments(in: folder, planted: 30..<33, 90..<93)
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.all.map(\.pts) == (Array(21...45) + Array(81...105)).map(Int64.init))
    #expect(rows.segments.map(\.reason) == [nil, "moment"])
    #expect(result.progress.shadow?.momentCount == 2)
    #expect(rows.events.map(\.kind) == ["pipelines.disagreed", "pipelines.disagreed"])
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().findings == [])
  }

  @Test func `pipelines that agree keep nothing, and the error has the counts`() throws {
    let folder = try TemporaryFolder()
    let error = #expect(throws: RecordError.self) {
      _ = try recordMoments(in: folder, planted: 0..<0)
    }
    #expect(error?.code == "record.shadow.noMoment")
    #expect(
      error?.message.contains("120 frames compared, 0 not compared, 0 disagree") == true,
      "\(error?.message ?? "")")
    #expect(try folder.entries == [])
  }

  @Test func `a slow shadow drops frames, and neither triggers nor costs a recorded frame`() throws
  {
    let folder = try TemporaryFolder()
    let gate = Gate()
    let (first, shadow) = pipelines(planted: [10..<120], frames: 120, shadowGate: gate)
    var options = RecorderOptions.test(folder, preset: .mjpeg)
    options.ring = .seconds(10)
    let board = Locked<Recorder?>(nil)
    // The shadow holds its first frame until all frames were captured, and the person keeps them.
    let watch = RecordingWatch(captured: { frame in
      if frame.id.sequence == 100 { board.withLock { $0 }?.trigger() }
      if frame.id.sequence == 119 { gate.open() }
    })
    var strict = shadow
    // More frames than the shadow's queue holds.
    strict.trigger.frames = 20
    let recorder = try Recorder(
      try Scene(120).source, options: options, machine: Recorder.Machine(), pipeline: first,
      shadow: strict,
      watch: watch)
    board.withLock { $0 = recorder }
    let result = try recorder.run()
    board.withLock { $0 = nil }
    let counts = try #require(result.progress.shadow)
    #expect(counts.momentCount == 0)
    #expect(counts.compared + counts.notCompared == 120 && counts.notCompared >= 100)
    #expect(counts.pipeline?.produced == 120)
    #expect(result.progress.frames.recorded == 120 && result.status == .clean)
    #expect(try StoredFrames(result.folder.path).events.map(\.kind) == ["recording.triggered"])
  }

  /// The same stage on both sides; frames on which only one side fails.
  private func recordChanges(
    _ change: (Change) -> AnyStage, failures: (first: Set<Int>, shadow: Set<Int>)
  ) throws -> ShadowProgress {
    var trigger = DisagreementTrigger()
    (trigger.least, trigger.frames) = (0.5, 1)
    let folder = try TemporaryFolder()
    do {
      let result = try recordMoments(
        in: folder,
        of: (
          live("one", change(Change(failing: failures.first))),
          shadow(live("other", change(Change(failing: failures.shadow))), trigger)
        ))
      return try #require(result.progress.shadow)
    } catch RecordError.noMoment(_, let progress) {
      return try #require(progress.shadow)
    }
  }

  @Test func `a pipeline with memory agrees with itself when the two sides lose other frames`()
    throws
  {
    // The frames after 30, 41, 60 and 80 are not compared. 50 fails on both sides.
    let counts = try recordChanges(
      { AnyStage(ShortChange($0)) }, failures: ([30, 40, 50, 80], [41, 50, 60]))
    #expect(counts.disagreeing == 0 && counts.momentCount == 0)
    #expect(counts.notCompared == 10 && counts.compared == 110)
  }

  @Test func `a memory of unknown length is taken as 60 frames`() throws {
    let counts = try recordChanges({ AnyStage($0) }, failures: ([20], []))
    #expect(counts.disagreeing == 0 && counts.momentCount == 0)
    #expect(counts.notCompared == 61 && counts.compared == 59)
    // Another failure of one side begins the count again: 20 to 110 are not compared.
    let again = try recordChanges({ AnyStage($0) }, failures: ([20], [50]))
    #expect(again.disagreeing == 0 && again.notCompared == 91 && again.compared == 29)
  }

  @Test func `the memory of a pipeline is the sum of its stages' memories`() {
    #expect(FrameMemory.frames(of: live("sum", AnyStage(Sum())).pipeline) == 0)
    #expect(FrameMemory.frames(of: live("short", AnyStage(ShortChange(Change()))).pipeline) == 1)
    #expect(
      FrameMemory.frames(of: live("long", AnyStage(Change())).pipeline)
        == FrameMemory.unknownFrames)
    var chain = live("chain", AnyStage(ShortChange(Change()))).pipeline
    chain.nodes.append(PipelineNode(id: "next", stage: AnyStage(ShortChange(Change()))))
    #expect(FrameMemory.frames(of: chain) == 2)
  }

  @Test(arguments: [0, 1])
  func `a halt of a pipeline is an event of the session`(run: Int) throws {
    let folder = try TemporaryFolder()
    let stages = (0..<2).map { AnyStage(Change(failing: $0 == run ? [0] : [], halts: true)) }
    var options = RecorderOptions.test(folder, preset: .mjpeg)
    options.ring = .seconds(10)
    let board = Locked<Recorder?>(nil)
    let recorder = try Recorder(
      try Scene(120).source, options: options, machine: Recorder.Machine(),
      pipeline: live("old", stages[0]),
      shadow: shadow(live("new", stages[1]), DisagreementTrigger()),
      watch: RecordingWatch(captured: { frame in
        if frame.id.sequence == 100 { board.withLock { $0 }?.trigger() }
      }))
    board.withLock { $0 = recorder }
    let result = try recorder.run()
    board.withLock { $0 = nil }
    #expect(result.progress.frames.recorded == 120 && result.status == .clean)
    let halts = [result.progress.pipeline?.halt, result.progress.shadow?.pipeline?.halt]
    #expect(halts.map { $0?.code } == (run == 0 ? ["change.no", nil] : [nil, "change.no"]))
    let events = try StoredFrames(result.folder.path).events
    #expect(events.map(\.kind).sorted() == ["pipeline.halted", "recording.triggered"])
    let json = try #require(events.first { $0.kind == "pipeline.halted" }).json
    for part in [
      #""code":"change.no""#, #""message":"not this one""#, #""node":"sum""#,
      #""name":"\#(run == 0 ? "old" : "new")""#, #""run":\#(run)"#,
    ] {
      #expect(json.contains(part), "\(json)")
    }
  }

  @Test func `a shadow without a ring or without a pipeline is refused`() throws {
    let folder = try TemporaryFolder()
    let (first, shadow) = pipelines(planted: [], frames: 1)
    var options = RecorderOptions.test(folder)
    func make(_ pipeline: LivePipeline?) throws -> Recorder {
      try Recorder(
        try Scene(1).source, options: options, machine: .still(), pipeline: pipeline,
        shadow: shadow)
    }
    #expect(code { try make(first) } == "record.shadow.alone")
    options.ring = .seconds(1)
    #expect(code { try make(nil) } == "record.shadow.alone")
    #expect(code { try make(first) } == nil)
  }
}

private func sum(of result: LiveResult) -> Double? {
  guard case .facts(let facts)? = result.frame.result.outcomes.first?.content,
    case .scalar(_, let value)? = facts.first
  else { return nil }
  return value
}

/// A sum over the bytes of the first plane; 1,000 more for planted sums.
private struct Sum: PureStage {
  static let kind = "sum"
  private let planted: Set<Int>
  private let gate: Gate?

  init(planted: Set<Int> = [], gate: Gate? = nil) { (self.planted, self.gate) = (planted, gate) }
  init(options: NoOptions) { self.init() }

  static func of(_ frame: Frame) -> Int {
    frame.bytes(of: 0).reduce(0) { ($0 * 31 + Int($1)) % 1_000_003 }
  }

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    gate?.pass()
    let sum = Self.of(frame)
    return Scalars([.init("sum", Double(planted.contains(sum) ? sum + 1_000 : sum))])
  }
}

/// The difference from the frame before. A frame on which it fails does not change its memory.
private struct Change: StatefulStage {
  static let kind = "change"
  private let failing: Set<Int>
  private let halts: Bool
  private var last: Int?

  init(failing: Set<Int> = [], halts: Bool = false) {
    (self.failing, self.halts) = (failing, halts)
  }
  init(options: NoOptions) { self.init() }

  mutating func process(_ frame: Frame, _ context: StageContext) throws(StageError) -> Scalars {
    guard !failing.contains(context.frame.sequence) else {
      throw StageError(
        code: "change.no", message: "not this one", severity: halts ? .unrecoverable : .recoverable)
    }
    let sum = Sum.of(frame)
    defer { last = sum }
    return Scalars([.init("sum", Double(sum - (last ?? sum)))])
  }

  mutating func reset() { last = nil }
}

/// A change whose memory is known.
private struct ShortChange: ShortMemory {
  static let kind = "shortChange"
  static let callsRemembered = 1
  private var change: Change

  init(_ change: Change) { self.change = change }
  init(options: NoOptions) { self.init(Change()) }

  mutating func process(_ frame: Frame, _ context: StageContext) throws(StageError) -> Scalars {
    try change.process(frame, context)
  }

  mutating func reset() { change.reset() }
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

/// Each wait ends with one signal.
private final class Countdown: Sendable {
  private let semaphore = DispatchSemaphore(value: 0)

  func signal() { semaphore.signal() }
  func wait() { semaphore.wait() }
}
