import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeStore

/// The samples that an app pushes while it records: they go into the session, and to the stages of
/// the pipeline that runs alongside.
///
/// When a frame arrives, everything that its stages may read is decided: samples that come later
/// arrive later, by at least a nanosecond. So a replay, which knows the arrivals alone, reads the
/// same (`sensor-read`).
final class LiveSensorValues: Sendable {
  /// The readings of a frame, by read.
  private typealias Readings = [SensorRead: SensorReading]

  private struct Sensor: Sendable {
    var record: SensorRecord
    var count = 0
    var time = Int64.min
    /// The samples that a later frame may read, the oldest first.
    var recent: [SensorSample] = []
  }

  private struct State: Sendable {
    var sensors: [Sensor] = []
    var reads: [SensorRead] = []
    /// No sample arrives at or before it any more.
    var sealed = Int64.min
    var arrival = Int64.min
    var frames: [FrameID: Readings] = [:]
    /// The frames with readings, the oldest first.
    var order: [FrameID] = []
  }

  /// The longest window of a live stage reads as many samples of a sensor.
  private static let recentMax = 1 << 16
  /// More frames than a pipeline holds at once, with all of its queues.
  private static let framesMax = 4_096

  private let pipes: RecorderPipes
  private let state = Locked(State())

  init(_ pipes: RecorderPipes) {
    self.pipes = pipes
  }

  /// - Throws: `SampleError`: a name that is taken, or that cannot be one.
  func add(
    name: String, kind: String, unit: String, channels: [String]
  ) throws -> Int {
    let added = state.withLock { state -> Result<SensorRecord, any Error> in
      Result {
        let record = SensorRecord(
          sensor: state.sensors.count, name: name, kind: kind, unit: unit, channels: channels,
          source: "live")
        try SampleWriter.check(record, among: state.sensors.map(\.record))
        state.sensors.append(Sensor(record: record))
        return record
      }
    }
    let record = try added.get()
    var rows = RunRows()
    rows.sensors = [record]
    pipes.captured.add(.run(rows))
    return record.sensor
  }

  /// - Returns: false for an unknown sensor, another number of values, or a time before the last
  ///   one.
  func push(_ sensor: Int, time: Timestamp?, _ values: [Double]) -> Bool {
    state.withLock { state in
      guard state.sensors.indices.contains(sensor),
        values.count == state.sensors[sensor].record.channels.count
      else { return false }
      let now = pipes.sessionTime
      let measured = time?.nanoseconds ?? max(now, state.sensors[sensor].time)
      guard abs(measured / 2) < 1 << 60, measured >= state.sensors[sensor].time else {
        return false
      }
      // After every frame that has arrived, and never before another sample.
      let arrival = max(now, state.arrival, state.sealed == .min ? .min : state.sealed + 1)
      state.arrival = arrival
      var rows = RunRows()
      rows.samples = [
        SampleRecord(
          sensor: sensor, index: state.sensors[sensor].count, timeNanoseconds: measured,
          arrivalNanoseconds: arrival, numbers: values)
      ]
      state.sensors[sensor].count += 1
      state.sensors[sensor].time = measured
      if !state.reads.isEmpty {
        state.sensors[sensor].recent.append(rows.samples[0].sample)
        // Half at a time, so that not each sample moves all others.
        if state.sensors[sensor].recent.count > Self.recentMax {
          state.sensors[sensor].recent.removeFirst(Self.recentMax / 2)
        }
      }
      // Inside the lock, so that the rows of a sensor are stored in the order of their indexes.
      pipes.captured.add(.run(rows))
      return true
    }
  }

  // MARK: The pipeline

  /// The pipeline with its stages connected to these sensors.
  ///
  /// - Throws: `RecordError.noSensor`.
  func connect(_ pipeline: Pipeline) throws -> Pipeline {
    let known = state.withLock { $0.sensors.map(\.record.name) }
    for node in pipeline.flattened().nodes {
      for read in node.stage.sensorReads where !known.contains(read.sensor) {
        throw RecordError.noSensor(node: node.id, sensor: read.sensor, known: known)
      }
    }
    let reads = pipeline.sensorReads
    guard !reads.isEmpty else { return pipeline }
    state.withLock { $0.reads = reads }
    return pipeline.reading(fingerprint: "live") { [self] in try readings($0, $1) }
  }

  /// A frame has arrived: fixes the samples that its stages read.
  func seal(_ frame: FrameID, timestamp: Timestamp, arrival: Timestamp) {
    state.withLock { state in
      state.sealed = max(state.sealed, arrival.nanoseconds)
      guard !state.reads.isEmpty else { return }
      var readings: Readings = [:]
      for read in state.reads {
        guard let sensor = state.sensors.first(where: { $0.record.name == read.sensor }) else {
          continue
        }
        readings[read] = Self.reading(read, of: sensor, timestamp, arrival)
      }
      if state.frames.updateValue(readings, forKey: frame) == nil { state.order.append(frame) }
      if state.order.count > Self.framesMax { state.frames[state.order.removeFirst()] = nil }
    }
  }

  private static func reading(
    _ read: SensorRead, of sensor: Sensor, _ timestamp: Timestamp, _ arrival: Timestamp
  ) -> SensorReading {
    // All samples so far that had arrived: usually all of them.
    let seen = sensor.recent.prefix { $0.arrival <= arrival }
    let start = timestamp - read.length.nanoseconds
    return SensorReading(
      track: sensor.record.track(samples: sensor.count), latest: seen.last { $0.time <= arrival },
      window: read.length > .zero
        ? seen.reversed().prefix { $0.time > start }.reversed().filter { $0.time <= timestamp } : []
    )
  }

  private func readings(
    _ reads: [SensorRead], _ context: StageContext
  ) throws -> [SensorReading] {
    guard let known = state.withLock({ $0.frames[context.frame] }) else {
      throw StageError(
        code: "sensor.past", message: "the sensor values of \(context.frame) are no longer kept",
        severity: .unrecoverable)
    }
    return reads.compactMap { known[$0] }
  }
}
