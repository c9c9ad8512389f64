import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeReplay
import RetakeRuntime
import Testing

/// A gyroscope of one axis: sample n is measured at n × 10 ms, and arrives `delay` later.
private struct Turns: SensorReader {
  var delay: Int64 = 0
  let sensors = [
    SensorTrack(number: 0, name: "gyroscope", kind: "gyroscope", channels: ["x"], sampleCount: 100)
  ]

  private var all: [SensorSample] {
    (0..<100).map { number in
      let time = Int64(number) * 10_000_000
      return SensorSample(
        time: Timestamp(nanoseconds: time), arrival: Timestamp(nanoseconds: time + delay),
        values: [Double(number)])
    }
  }

  func latest(of sensor: Int, at time: Timestamp, arrivedBy arrival: Timestamp) -> SensorSample? {
    all.last { $0.time <= time && $0.arrival <= arrival }
  }

  func samples(
    of sensor: Int, after start: Timestamp, upTo end: Timestamp, arrivedBy arrival: Timestamp
  ) -> [SensorSample] {
    all.filter { $0.time > start && $0.time <= end && $0.arrival <= arrival }
  }

  func digest() -> Digest128 { Digest128(of: "turns \(delay)") }
}

/// 12 frames at 30 a second, which arrive `lateness` after their presentation.
private struct SensedFrames: FrameReader {
  var turns = Turns()
  var lateness: Int64 = 0
  var hasSensors = true
  private let frames = StepFrames()

  init(delay: Int64 = 0, lateness: Int64 = 0, hasSensors: Bool = true) {
    turns.delay = delay
    (self.lateness, self.hasSensors) = (lateness, hasSensors)
  }

  var tracks: [TrackDescription] { frames.tracks }
  var sensorReader: (any SensorReader)? { hasSensors ? turns : nil }

  func entries(of track: Int, sequences: Range<Int>) throws -> [FrameEntry] {
    try frames.entries(of: track, sequences: sequences).map { entry in
      var entry = entry
      entry.arrival = entry.timestamp + lateness
      return entry
    }
  }

  func chain(of id: FrameID) -> Int { 0 }
  func frame(_ id: FrameID) throws -> Frame { try frames.frame(id) }
}

/// The newest sample, its age, the first sample of the window, and their number; -1 without a
/// sample.
private struct Sensed: PureStage {
  static let kind = "sensed"
  var sensors: [SensorRead] { [.window("gyroscope", .milliseconds(25))] }

  func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let reading = context.sensor("gyroscope")
    return Scalars([
      .init("latest", reading["x"] ?? -1),
      .init("age", Double(context.timestamp - (reading.latest?.time ?? .zero)) / 1e6),
      .init("first", reading.window.first?.values[0] ?? -1),
      .init("count", Double(reading.window.count)),
    ])
  }
}

/// The same with a memory: the sum of the windows so far.
private struct Summed: StatefulStage {
  static let kind = "summed"
  var sensors: [SensorRead] { [.window("gyroscope", .milliseconds(25))] }
  private var sum = 0.0

  mutating func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    sum += context.sensor("gyroscope").window.reduce(0) { $0 + $1.values[0] }
    return Scalars([.init("sum", sum)])
  }

  mutating func reset() { sum = 0 }
}

/// The samples that stages read of sensors: rule `sensor-read`.
struct SensorReplayTests {
  private func rows(
    _ reader: SensedFrames, mode: RunOptions.Mode = .simulate, workers: Int = 2
  ) throws -> [[Double]] {
    let rows = Locked<[[Double]]>([])
    let sink = AnyStage(
      signature: AnyStage.numbers.signature, options: .object([:]),
      body: .sink { delivery in
        guard case .value(let value) = delivery.content, let scalars = value as? Scalars else {
          return
        }
        rows.withLock { $0.append(scalars.entries.map(\.value)) }
      })
    let pipeline = Pipeline.named("sensed").source(.session()).stage(Sensed())
      .sink(sink, id: "numbers")
    let replay = try Samples.replay(pipeline, reader: reader) {
      $0.options.mode = mode
      $0.options.workers = workers
    }
    _ = try replay.run()
    return rows.withLock { $0 }
  }

  /// Frames are at 0, 33.3, 66.7, 100 ms, and so on; samples at each 10 ms.
  @Test func `a frame reads the newest sample, and the window that ends with it`() throws {
    let rows = try rows(SensedFrames())
    #expect(rows.count == 12)
    #expect(rows[0][0] == 0 && rows[0][2] == 0 && rows[0][3] == 1)
    // (8.3 ms, 33.3 ms]: 10, 20 and 30 ms.
    #expect(rows[1][0] == 3 && rows[1][2] == 1 && rows[1][3] == 3)
    // (75 ms, 100 ms]: a sample at the frame's own time is read, 80, 90 and 100 ms.
    #expect(rows[3][0] == 10 && rows[3][1] == 0 && rows[3][2] == 8 && rows[3][3] == 3)
  }

  @Test func `what had not arrived is not read`() throws {
    // Samples arrive 15 ms after their measurement: at 100 ms the sample of 80 ms is the newest.
    let late = try rows(SensedFrames(delay: 15_000_000))
    #expect(late[3][0] == 8 && late[3][2] == 8 && late[3][3] == 1)
    #expect(late[0][0] == -1 && late[0][3] == 0)
    // Frames that arrive 20 ms late find all samples, and the latest sample is newer than the
    // frame.
    let both = try rows(SensedFrames(delay: 15_000_000, lateness: 20_000_000))
    #expect(both[3][0] == 10 && both[3][3] == 3)
    let slow = try rows(SensedFrames(lateness: 20_000_000))
    #expect(slow[3][0] == 12 && slow[3][2] == 8 && slow[3][3] == 3)
  }

  @Test func `in an every-frame run a frame arrives at its presentation`() throws {
    let rows = try rows(SensedFrames(lateness: 20_000_000), mode: .everyFrame)
    #expect(rows[3][0] == 10)
  }

  @Test(arguments: [0, 1, 2, 4, 8])
  func `the number of workers changes nothing`(workers: Int) throws {
    let pipeline = Pipeline.named("summed").source(.session()).stage(Summed())
      .cost(.fixed(.milliseconds(45))).queue(capacity: 2, policy: .dropOldest)
      .sink(.numbers, id: "numbers")
    func run(_ workers: Int) throws -> RunSummary {
      try Samples.replay(pipeline, reader: SensedFrames(delay: 3_000_000)) {
        $0.options.mode = .simulate
        $0.options.workers = workers
      }.run()
    }
    let (one, other) = (try run(1), try run(workers))
    #expect(one.resultDigest == other.resultDigest && one.decisionDigest == other.decisionDigest)
    #expect(one.frames.delivered < 12)
  }

  @Test func `a stage whose sensor is missing is refused before the run`() throws {
    let pipeline = Pipeline.named("sensed").source(.session()).stage(Sensed())
      .sink(.numbers, id: "numbers")
    let error = #expect(throws: ReplayError.self) {
      try Samples.replay(pipeline, reader: SensedFrames(hasSensors: false))
    }
    #expect(error?.code == "replay.sensor.unknown")
    #expect(throws: ReplayError.sensorsElsewhere(node: "sensed", source: "camera")) {
      try Samples.replay(
        Pipeline.named("own").source(.frames(StepFrames())).stage(Sensed())
          .sink(.numbers, id: "numbers"), reader: SensedFrames())
    }
  }

  @Test func `a stage that reads sensors fails where there are none`() {
    let stage = AnyStage(Sensed())
    guard case .pure(let body) = stage.body else { return }
    let frame = Frame(
      id: FrameID(track: 0, sequence: 0), format: .gray, width: 1, height: 1, planes: [[0]])
    let outcome = body(frame, StageContext(frame: frame.id, timestamp: .zero))
    #expect(throws: StageError.self) { try outcome.get() }
  }
}
