import Foundation
import RetakeCore
import RetakeMedia
import RetakeRuntime
import RetakeSession
import RetakeStore
import RetakeTestSupport
import Synchronization
import Testing

@testable import RetakeRecord

/// A camera that is unplugged repeatedly, in one of the ways in which cameras fail.
final class FakeCamera: Sendable {
  enum Fault: CaseIterable, Sendable {
    /// The driver reports an error.
    case error
    /// The stream ends without an error.
    case end
    /// There is no memory for a frame, but there is for the next one.
    case missed
    /// The call does not return before it is asked to.
    case stall
    /// The call never returns, even if it is asked to.
    case hang
  }

  let unplugs: Int
  let framesEach: Int
  let faults: [Fault]
  private let count = Mutex(0)
  private let never = DispatchSemaphore(value: 0)

  init(unplugs: Int, framesEach: Int = 6, faults: [Fault]) {
    (self.unplugs, self.framesEach, self.faults) = (unplugs, framesEach, faults)
  }

  var connections: Int { count.withLock { $0 } }

  func count(of fault: Fault) -> Int {
    (0..<unplugs).count { faults[$0 % faults.count] == fault }
  }

  func connect(_ limit: CallLimit) throws -> any LiveConnection {
    let number = count.withLock {
      $0 += 1
      return $0 - 1
    }
    return Connection(self, limit, fault: number < unplugs ? faults[number % faults.count] : nil)
  }

  /// Releases the hanging calls at the end of the test.
  func release() {
    for _ in 0..<unplugs { never.signal() }
  }

  private final class Connection: LiveConnection, @unchecked Sendable {
    // @unchecked: one thread at a time uses it, as the protocol requires.
    private let camera: FakeCamera
    private let limit: CallLimit
    private let fault: Fault?
    private let scene = Scene(4)
    private var given = 0

    init(_ camera: FakeCamera, _ limit: CallLimit, fault: Fault?) {
      (self.camera, self.limit, self.fault) = (camera, limit, fault)
    }

    func next() throws -> SourceFrame? {
      if let fault, given == camera.framesEach {
        switch fault {
        case .error: throw MediaError.lost(address: "fake", cause: "no such device")
        case .end: return nil
        case .missed:
          given += 1
          throw MissedFrame(
            timestamp: Timestamp(nanoseconds: Int64(given - 1) * 4_000_000),
            pts: Int64(given - 1) * 4)
        case .stall:
          while !limit.isOver { limit.wait(nanoseconds: 5_000_000) }
          throw MediaError.timedOut(address: "fake")
        case .hang:
          camera.never.wait()
          throw MediaError.timedOut(address: "fake")
        }
      }
      limit.wait(nanoseconds: 4_000_000)
      var frame = scene.frame(FrameID(track: 0, sequence: given % 4))
      frame.timestamp = Timestamp(nanoseconds: Int64(given) * 4_000_000)
      given += 1
      return SourceFrame(frame: frame, pts: Int64(given) * 4)
    }
  }
}

private struct FakeSource: RecordingSource {
  let description = SourceDescription(name: "fake", timeBase: TimeBase(1, 1_000), isLive: true)
  var plan: LiveStream.Plan
  func open() throws -> any FrameStream { try LiveStream(plan) }
}

/// A clock that a source moves. A waiting thread lets the source deliver its next item.
private final class StepClock: LiveClock {
  private let now = Mutex<Int64>(1_000_000_000)
  private let permits = DispatchSemaphore(value: 0)

  var monotonicNanoseconds: Int64 { now.withLock { $0 } }

  func anchor() -> WallAnchor {
    WallAnchor(
      monotonicNanoseconds: monotonicNanoseconds, unixNanoseconds: 0, bootNanoseconds: 0,
      uncertaintyNanoseconds: 0)
  }

  func wait(untilNanoseconds deadline: Int64, or condition: ThreadCondition) {
    // The source's pause before a new connection is over at once.
    guard Thread.current.name != "retake-source" else { return }
    permits.signal()
    condition.wait()
  }

  func step() {
    permits.wait()
    now.withLock { $0 += 1_000_000_000 }
  }
}

/// Has no memory for its frames, one a second.
private final class Forgetful: LiveConnection, @unchecked Sendable {
  // @unchecked: one thread at a time uses it, as the protocol requires.
  private let clock: StepClock
  private let count: Int
  private var given = 0

  init(_ clock: StepClock, count: Int) {
    (self.clock, self.count) = (clock, count)
  }

  func next() throws -> SourceFrame? {
    clock.step()
    guard given < count else { return nil }
    given += 1
    throw MissedFrame(timestamp: nil, pts: nil)
  }
}

/// A source that is lost before its first frame.
private struct LostSource: RecordingSource {
  let description = SourceDescription(name: "fake", timeBase: TimeBase(1, 1_000), isLive: true)
  func open() throws -> any FrameStream { Stream() }

  private final class Stream: FrameStream {
    private var items: [SourceItem] = [
      .nothing, .note(kind: "source.lost", json: .object(["cause": .string("no such device")])),
      .end,
    ]

    func next() throws -> SourceFrame? { nil }
    func item() throws -> SourceItem { items.removeFirst() }
  }
}

@Suite(.serialized) struct LiveSourceTests {
  @Test func `a source that never gave a frame says why`() throws {
    let folder = try TemporaryFolder("retake-lost")
    let error = #expect(throws: RecordError.self) {
      try Recorder(
        LostSource(), options: .test(folder), machine: .still()
      ).run()
    }
    #expect(error?.code == "record.source.noFrames")
    #expect(error?.cause == "no such device")
  }

  private static let environment = ProcessInfo.processInfo.environment
  private static let isLong = environment["RETAKE_FAULTS"] == "long"
  private static let unplugs = environment["RETAKE_UNPLUGS"].flatMap { Int($0) } ?? 8

  /// The long form uses the real limits; the short form uses short limits.
  private func plan(_ camera: FakeCamera) -> LiveStream.Plan {
    var plan = LiveStream.Plan(
      connect: { try camera.connect($0) }, timeBase: TimeBase(1, 1_000), clock: WallClock())
    guard !Self.isLong else { return plan }
    plan.callNanosecondsMax = 250_000_000
    plan.limits.callNanosecondsMax = 1_000_000_000
    plan.limits.noticeNanoseconds = 200_000_000
    plan.backOff = BackOff(firstNanoseconds: 2_000_000)
    return plan
  }

  /// A call that never returns keeps a thread, so at most eight of them are used: one in thirteen.
  private static let hanging: [FakeCamera.Fault] = [
    .hang, .error, .end, .stall, .error, .end, .error, .end, .stall, .error, .end, .error, .end,
  ]

  @Test func `a frame that there is no memory for keeps its row, and the next one comes`() throws {
    let camera = FakeCamera(unplugs: 1, framesEach: 6, faults: [.missed])
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder)
    options.pace = .realtime
    options.probe = .skip
    options.framesMax = 20
    options.waitingDurationMax = .seconds(600)
    let recorder = try Recorder(FakeSource(plan: plan(camera)), options: options, machine: .init())
    let frames = try recorder.run().progress.frames
    #expect(frames.captured == 20 && frames.recorded == 19)
    #expect(frames.missing == ["record.shed.memory": 1])
    let reader = try SessionReader(opening: folder.file("yard").path)
    let entries = try reader.entries(of: 0, sequences: 0..<20)
    #expect(entries.map(\.isPayloadMissing) == (0..<20).map { $0 == 6 })
    #expect(entries[6].timestamp == Timestamp(nanoseconds: 24_000_000))
    #expect(camera.connections == 1, "it is the same connection")
  }

  @Test func `frames that there is no memory for are no silence, and end one`() throws {
    let clock = StepClock()
    let connections = Mutex(0)
    let stream = try LiveStream(
      LiveStream.Plan(
        connect: { _ in
          let number = connections.withLock {
            $0 += 1
            return $0
          }
          return Forgetful(clock, count: number == 1 ? 5 : .max)
        }, timeBase: TimeBase(1, 1_000), clock: clock))
    defer { stream.close() }
    var seen: [String] = []
    // Ends: the source delivers an item each time that the stream waits.
    while seen.count < 9 {
      switch try stream.item() {
      case .missed: seen.append("missed")
      case .note(let kind, _): seen.append(kind)
      case .frame, .nothing, .end: break
      }
    }
    #expect(
      seen == [
        "missed", "missed", "missed", "missed", "missed", "source.lost", "source.back", "missed",
        "missed",
      ])
  }

  @Test(arguments: [[FakeCamera.Fault.error, .end, .stall], hanging])
  func `a camera that is unplugged again and again is recorded with all its gaps`(
    faults: [FakeCamera.Fault]
  ) throws {
    let camera = FakeCamera(unplugs: Self.unplugs, faults: faults)
    defer { camera.release() }
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder)
    options.pace = .realtime
    options.probe = .skip
    options.framesMax = camera.unplugs * camera.framesEach + 20
    let recorder = try Recorder(FakeSource(plan: plan(camera)), options: options, machine: .init())
    let result = try recorder.run()
    let frames = result.progress.frames
    #expect(result.end == .limit && result.isClosed)
    #expect(frames.captured == options.framesMax)
    #expect(frames.recorded + frames.missing.values.reduce(0, +) == frames.captured)
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.all.map(\.ptsNanoseconds) == rows.all.map(\.ptsNanoseconds).sorted())
    let gaps = try rows.events.filter { $0.kind == "source.back" }.map(Gap.init)
    // A machine that stops for a moment causes a silence, which is reported as one: without a new
    // connection.
    #expect(gaps.count { $0.attempts > 0 } == camera.unplugs, "each unplugging is one gap")
    #expect(gaps.reduce(0) { $0 + $1.attempts } == camera.unplugs)
    #expect(camera.connections == camera.unplugs + 1)
    let hangs = camera.count(of: .hang)
    #expect(rows.events.count { $0.kind == "source.lost" } == camera.unplugs - hangs)
    #expect(
      rows.events.count { $0.kind == "source.stalled" }
        >= hangs + camera.count(of: .stall))
    let noticed = try noticeNanoseconds(rows.events).max() ?? 0
    #expect(noticed < 2_000_000_000)
    print(
      "faults | 10 | camera unplugged | \(camera.unplugs) cases | 0 hangs, \(hangs) calls left "
        + "alone, \(frames.captured) produced = \(frames.recorded) accepted + "
        + "\(frames.captured - frames.recorded) dropped, noticed after "
        + "\(noticed / 1_000_000) ms at most")
  }

  /// The event that a session records at the end of a gap.
  private struct Gap: Decodable {
    var attempts: Int
    var gapNanoseconds: Int64

    init(_ event: EventRecord) throws {
      self = try JSONDecoder().decode(Gap.self, from: Data(event.json.utf8))
    }
  }

  /// The time from the start of a gap, as recorded at its end, to the first event about it.
  private func noticeNanoseconds(_ events: [EventRecord]) throws -> [Int64] {
    var first: Int64?
    return try events.compactMap { event in
      if event.kind != "source.back" {
        first = first ?? event.timeNanoseconds
        return nil
      }
      defer { first = nil }
      return try first.map { $0 - (event.timeNanoseconds - (try Gap(event)).gapNanoseconds) }
    }
  }

  @Test func `a silent camera does not hold up the end`() throws {
    let camera = FakeCamera(unplugs: 1, faults: [.hang])
    defer { camera.release() }
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder)
    options.pace = .realtime
    options.probe = .skip
    var plan = plan(camera)
    // No call is given up before the end.
    (plan.callNanosecondsMax, plan.limits.callNanosecondsMax) = (1 << 60, 1 << 60)
    let held = Mutex<Recorder?>(nil)
    let recorder = try Recorder(
      FakeSource(plan: plan), options: options, machine: .init()
    ) { line in
      if line.frames.captured == 6 { held.withLock { $0 }?.stop() }
    }
    held.withLock { $0 = recorder }
    // The recorder returns, although the call of the camera does not.
    let result = try recorder.run()
    held.withLock { $0 = nil }
    #expect(result.end == .stopped && result.status == .clean)
  }

  @Test func `a source that is away for longer than the patience ends the recording`() throws {
    let camera = FakeCamera(unplugs: 1_000, framesEach: 3, faults: [.error])
    var plan = plan(camera)
    plan.limits.patienceNanoseconds = 200_000_000
    let answers = Mutex(0)
    plan.connect = { limit in
      let number = answers.withLock {
        $0 += 1
        return $0
      }
      guard number == 1 else { throw MediaError.lost(address: "fake", cause: "no such device") }
      return try camera.connect(limit)
    }
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder)
    options.pace = .realtime
    options.probe = .skip
    let result = try Recorder(FakeSource(plan: plan), options: options, machine: .init()).run()
    #expect(result.end == .failed && result.isClosed)
    #expect(result.failure?.code == "record.source.lost")
    #expect(result.failure?.cause?.contains("no such device") == true)
    #expect(result.progress.frames.recorded == 3)
  }

  @Test func `test pictures of FFmpeg's are recorded at their own times`() throws {
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder, preset: .ffv1)
    options.framesMax = 12
    let source = try TestImageSource("testsrc2=size=64x48:rate=25,format=yuyv422")
    #expect(source.description.framesPerSecond == 25 && !source.description.isLive)
    let result = try Recorder(source, options: options, machine: .still()).run()
    #expect(result.progress.frames.recorded == 12)
    let reader = try SessionReader(opening: result.folder.path)
    let entries = try reader.entries(of: 0, sequences: 0..<12)
    #expect(entries.map(\.timestamp.nanoseconds) == (0..<12).map { $0 * 40_000_000 })
    #expect(try reader.frame(FrameID(track: 0, sequence: 3)).format == .i422)
  }

  @Test func `a ring that is triggered keeps what came before, and counts from its first frame`()
    throws
  {
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder, preset: .mjpeg)
    options.ring = .seconds(1)
    let source = TriggeringSource(frames: 150, trigger: 100)
    let recorder = try Recorder(source, options: options, machine: .ticking())
    source.recorder.hold(recorder)
    let result = try recorder.run()
    source.recorder.hold(nil)
    let rows = try StoredFrames(result.folder.path)
    #expect(rows.all.map(\.sequence) == Array(0..<rows.all.count))
    #expect(rows.all.last?.pts == 149)
    #expect((rows.all.first?.pts ?? 999) <= 70, "a second before, at least")
    #expect(rows.events.map(\.kind) == ["recording.triggered"])
    #expect(result.progress.passed + rows.all.count == 150)
    #expect(try SessionCheck(path: result.folder.path, decodes: true).run().findings == [])
  }

  @Test func `a ring that nobody triggers leaves nothing behind`() throws {
    let folder = try TemporaryFolder()
    var options = RecorderOptions.test(folder)
    options.ring = .seconds(1)
    #expect(code { try record(Scene(60), options: options) } == "record.ring.notTriggered")
    #expect(try folder.entries == [])
  }
}

/// A scene that triggers its recorder at one of its frames.
private struct TriggeringSource: RecordingSource {
  let frames: Int
  let trigger: Int
  let recorder = Held()
  let description = SourceDescription(name: "scene", timeBase: TimeBase(1, 30))

  final class Held: Sendable {
    private let value = Mutex<Recorder?>(nil)
    func hold(_ recorder: Recorder?) { value.withLock { $0 = recorder } }
    func trigger() { value.withLock { $0 }?.trigger() }
  }

  func open() throws -> any FrameStream { Stream(self, try Scene(frames).source.open()) }

  private final class Stream: FrameStream {
    let source: TriggeringSource
    let inner: any FrameStream
    var given = 0

    init(_ source: TriggeringSource, _ inner: any FrameStream) {
      (self.source, self.inner) = (source, inner)
    }

    func next() throws -> SourceFrame? {
      given += 1
      if given == source.trigger { source.recorder.trigger() }
      return try inner.next()
    }
  }
}
