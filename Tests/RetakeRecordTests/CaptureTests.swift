import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// The work of the capturing thread alone: no frame is encoded unless the test encodes it.
@Suite struct CaptureTests {
  private func pipes(_ options: RecorderOptions, _ clock: ManualClock) -> RecorderPipes {
    RecorderPipes(options, clock: clock)
  }

  private func options(waitingFramesMax: Int) throws -> RecorderOptions {
    var options = RecorderOptions.test(try TemporaryFolder())
    options.pace = .realtime
    options.waitingFramesMax = waitingFramesMax
    return options
  }

  private func capture(
    _ scene: Scene, _ options: RecorderOptions, _ clock: ManualClock, _ pipes: RecorderPipes
  ) throws -> [CapturedFrame] {
    let source = try scene.source
    let stream = source.open()
    let first = try #require(try stream.next())
    RecorderCapture(
      source: source, options: options, clock: clock, pipes: pipes, sensors: LiveSensorValues(pipes)
    )
    .run(stream, first: first)
    return pipes.captured.takeAll().rows.compactMap {
      if case .frame(let frame) = $0 { frame } else { nil }
    }
  }

  @Test func `frames arrive at their own pace`() throws {
    let options = try options(waitingFramesMax: 100)
    let clock = ManualClock(jumps: true)
    let start = clock.monotonicNanoseconds
    let rows = try capture(Scene(30), options, clock, pipes(options, clock))
    #expect(rows.map(\.record.arrivalNanoseconds) == rows.map(\.record.ptsNanoseconds))
    #expect(clock.monotonicNanoseconds - start == 966_666_667)
  }

  @Test func `a slow source's frames arrive late, not together`() throws {
    let options = try options(waitingFramesMax: 100)
    let clock = ManualClock(jumps: true, step: 30_000_000)
    let rows = try capture(Scene(10), options, clock, pipes(options, clock))
    #expect(rows.allSatisfy { $0.record.arrivalNanoseconds >= $0.record.ptsNanoseconds })
    let arrivals = rows.map(\.record.arrivalNanoseconds)
    #expect(zip(arrivals, arrivals.dropFirst()).allSatisfy { $0 < $1 })
  }

  @Test func `what nobody encodes in time is shed, and every frame keeps its row`() throws {
    let options = try options(waitingFramesMax: 4)
    let clock = ManualClock(jumps: true)
    let rows = try capture(Scene(25), options, clock, pipes(options, clock))
    #expect(rows.map(\.record.sequence) == Array(0..<25))
    #expect(rows.count { $0.frame != nil } == 4)
    #expect(rows.count { $0.record.cause == "record.shed.encoder" } == 21)
    #expect(rows.allSatisfy { ($0.frame == nil) == ($0.record.cause != nil) })
  }

  @Test func `live frames do not wait longer than they may`() throws {
    var options = try options(waitingFramesMax: 100)
    options.waitingDurationMax = .milliseconds(100)
    let clock = ManualClock(jumps: true)
    let rows = try capture(Scene(12), options, clock, pipes(options, clock))
    #expect(rows.map { $0.frame != nil } == (0..<12).map { $0 <= 3 }, "33 ms from one to the next")
  }

  @Test func `while the disk is behind, the cause says so`() throws {
    let options = try options(waitingFramesMax: 1)
    let clock = ManualClock(jumps: true)
    let pipes = pipes(options, clock)
    pipes.setDiskBehind(true)
    let rows = try capture(Scene(3), options, clock, pipes)
    #expect(rows.map(\.record.cause) == [nil, "record.shed.disk", "record.shed.disk"])
  }

  @Test func `a source that fails ends the recording with what it gave`() throws {
    struct Broken: RecordingSource {
      let description = SourceDescription(name: "camera", timeBase: TimeBase(1, 30))
      func open() -> any FrameStream { Stream() }
      final class Stream: FrameStream {
        let scene = Scene(10)
        var count = 0
        func next() throws -> SourceFrame? {
          guard count < 3 else { throw RecordError.noTrack(source: "camera", track: 0) }
          defer { count += 1 }
          return SourceFrame(frame: scene.frame(FrameID(track: 0, sequence: count)), pts: nil)
        }
      }
    }
    let folder = try TemporaryFolder()
    let result = try Recorder(Broken(), options: .test(folder), machine: .still()).run()
    #expect(result.end == .failed)
    #expect(result.failure?.code == "record.source.lost")
    #expect(result.isClosed && result.progress.frames.recorded == 3)
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.events.map(\.kind) == ["source.lost"])
  }

  /// Returns a packet without bytes for each frame.
  private final class EmptyMaker: PacketMaker {
    func packet(
      of frame: Frame, original: OriginalPacket?, wantsKey: Bool, hasTime: Bool
    ) throws -> EncodedFrame? {
      let stream = MediaStream(
        video: "mpeg4", width: 2, height: 2, pixelFormatName: "yuv420p", range: .limited,
        matrix: .bt601, timeBase: TimeBase(1, 1))
      return EncodedFrame(
        epoch: StreamEpoch(number: 0, stream: stream, shape: ""),
        packet: try MediaPacket(index: 0, pts: 0, dts: 0, bytes: []))
    }
  }

  @Test func `a packet without bytes takes a place, which the writer gives back`() throws {
    var options = try options(waitingFramesMax: 4)
    options.waitingPacketsMax = 1
    let clock = ManualClock(jumps: true)
    let pipes = pipes(options, clock)
    let source = try Scene(1).source
    let stream = source.open()
    let first = try #require(try stream.next())
    RecorderCapture(
      source: source, options: options, clock: clock, pipes: pipes, sensors: LiveSensorValues(pipes)
    )
    .run(stream, first: first)
    RecorderEncoding(encoders: [EmptyMaker()], source: "scene", options: options, pipes: pipes)
      .run()
    // Required, because the budget traps when more is given back than was taken.
    try #require(pipes.encoded.isPressed, "its place is the only one")
    for row in pipes.encoded.takeAll().rows {
      if case .frame(_, let encoded?) = row { pipes.encoded.finish(encoded.packet.size) }
    }
    #expect(!pipes.encoded.isPressed)
  }

  /// Fails for some of the frames, and returns a packet without bytes for each of the others.
  private final class FailingMaker: PacketMaker {
    let failing: Set<Int>
    let error: MediaError

    init(_ failing: Set<Int>, _ error: MediaError) { (self.failing, self.error) = (failing, error) }

    func packet(
      of frame: Frame, original: OriginalPacket?, wantsKey: Bool, hasTime: Bool
    ) throws -> EncodedFrame? {
      guard !failing.contains(frame.id.sequence) else { throw error }
      return try EmptyMaker().packet(
        of: frame, original: original, wantsKey: wantsKey, hasTime: hasTime)
    }
  }

  /// The causes of ten frames, the events, and the end of the recording.
  private func encode(
    failing: Set<Int>, _ error: MediaError
  ) throws -> (causes: [String?], events: [EventRecord], pipes: RecorderPipes) {
    let options = try options(waitingFramesMax: 100)
    let clock = ManualClock(jumps: true)
    let frames = try capture(Scene(10), options, clock, pipes(options, clock))
    // The end of the source has ended the first ones.
    let pipes = pipes(options, clock)
    for captured in frames {
      _ = pipes.captured.offer(CapturedFrame.bytes(of: try #require(captured.frame)))
      pipes.captured.add(.frame(captured))
    }
    pipes.captured.close()
    RecorderEncoding(
      encoders: [FailingMaker(failing, error)], source: "scene", options: options, pipes: pipes
    ).run()
    var causes: [String?] = []
    var events: [EventRecord] = []
    for row in pipes.encoded.takeAll().rows {
      switch row {
      case .frame(let record, let encoded):
        causes.append(record.cause)
        #expect((encoded == nil) == (record.cause != nil))
      case .event(let event): events.append(event)
      default: continue
      }
    }
    return (causes, events, pipes)
  }

  private let refused = MediaError.encode(encoder: "ffv1", cause: "Invalid argument")

  @Test func `frames that cannot be encoded have their cause and an event, and the others go on`()
    throws
  {
    let (causes, events, pipes) = try encode(failing: [2, 3, 5, 6, 9], refused)
    let failed = "record.encode.failed"
    #expect(causes == [nil, nil, failed, failed, nil, failed, failed, nil, nil, failed])
    #expect(events.map(\.kind) == Array(repeating: "encoder.failed", count: 5))
    #expect(events.allSatisfy { $0.json.contains("Invalid argument") }, "\(events)")
    #expect(!pipes.hasEnded, "two failures in a row are not three")
  }

  @Test func `the third frame in a row that cannot be encoded ends the recording`() throws {
    let (causes, events, pipes) = try encode(failing: [4, 5, 6], refused)
    #expect(causes.count { $0 == "record.encode.failed" } == 3 && events.count == 3)
    #expect(pipes.reason == .failed && pipes.failure?.code == "record.encoder.failed")
  }

  @Test func `an encoder without memory goes on, however long it lasts`() throws {
    let (causes, _, pipes) = try encode(
      failing: Set(1..<10), .noMemory(step: "a packet", file: nil))
    #expect(causes == [nil] + Array(repeating: "record.shed.memory", count: 9))
    #expect(!pipes.hasEnded && pipes.isShortOfMemory)
  }

  /// A frame, then only frames that there is no memory for, every 40 ms.
  private struct Forgetful: RecordingSource {
    let description = SourceDescription(name: "camera", timeBase: TimeBase(1, 25))
    func open() -> any FrameStream { Stream() }

    final class Stream: FrameStream {
      private var count = 0

      func next() throws -> SourceFrame? {
        guard count < 100 else { return nil }
        defer { count += 1 }
        let time = Timestamp(nanoseconds: Int64(count) * 40_000_000)
        guard count == 0 else { throw MissedFrame(timestamp: time, pts: Int64(count)) }
        return SourceFrame(frame: Scene(1).frame(FrameID(track: 0, sequence: 0)), pts: 0)
      }
    }
  }

  @Test(arguments: [(5, nil), (nil, Duration.milliseconds(200))] as [(Int?, Duration?)])
  func `missed frames reach the limits, too`(framesMax: Int?, durationMax: Duration?) throws {
    var options = RecorderOptions.test(try TemporaryFolder())
    (options.framesMax, options.durationMax) = (framesMax, durationMax)
    let clock = ManualClock()
    let pipes = pipes(options, clock)
    let source = Forgetful()
    let stream = source.open()
    let first = try #require(try stream.next())
    RecorderCapture(
      source: source, options: options, clock: clock, pipes: pipes, sensors: LiveSensorValues(pipes)
    )
    .run(stream, first: first)
    let sequences = pipes.captured.takeAll().rows.compactMap { row in
      if case .frame(let frame) = row { frame.record.sequence } else { nil }
    }
    #expect(sequences == [0, 1, 2, 3, 4])
    #expect(pipes.reason == .limit)
  }

  @Test func `an event that is noted after the last row was taken waits for no one`() throws {
    let clock = ManualClock()
    let pipes = pipes(RecorderOptions.test(try TemporaryFolder()), clock)
    func note(_ kind: String) { pipes.note(source: "app", kind: kind, json: .object([:])) }
    func kinds() -> [String] {
      pipes.captured.takeAll().rows.compactMap { row in
        if case .event(let event) = row { event.kind } else { nil }
      }
    }
    note("before")
    pipes.captured.close()
    note("closing")
    #expect(kinds() == ["before", "closing"], "what waits is taken after the end was announced")
    #expect(kinds() == [])
    note("late")
    #expect(kinds() == [], "it is not kept in memory either")
  }

  @Test func `a recorder that is stopped before its first frame leaves nothing behind`() throws {
    let folder = try TemporaryFolder()
    let recorder = try Recorder(try Scene(5).source, options: .test(folder), machine: .still())
    recorder.stop()
    #expect(code { try recorder.run() } == "record.stopped")
    #expect(try folder.entries == [])
  }
}
