package import RetakeBuffers
import RetakeCore
package import RetakeGraph

/// Connects the stages of a pipeline to the sensors of a session.
///
/// **`sensor-read`**: a frame's stage receives samples that had arrived when the frame arrived,
/// including samples of the same instant: the newest sample that was measured by then, or the
/// samples in the window that ends with the frame's presentation time. The reading depends on the
/// session's times alone, so that it is the same with any number of workers, and live.
struct SensorBinding: Sendable {
  private let frames: any FrameReader
  private let sensors: any SensorReader
  /// In an every-frame run frames arrive at their presentation times.
  private let arrivesAtPresentation: Bool
  private let fingerprint: String

  /// - Returns: `nil` if no stage reads a sensor.
  /// - Throws: `ReplayError.noSensor`, `.noSession`.
  init?(_ pipeline: Pipeline, reader: (any FrameReader)?, arrivesAtPresentation: Bool) throws {
    let reading = pipeline.flattened().nodes.filter { !$0.stage.sensorReads.isEmpty }
    guard let node = reading.first else { return nil }
    guard let reader else { throw ReplayError.noSession(node: node.id) }
    try Self.requireSensors(of: reading, in: reader)
    // The frames of another source have other times, and may have the same numbers.
    if let other = pipeline.nodes.first(where: {
      $0.stage.signature.role == .source && $0.kind != AnyStage.sessionKind
    }) {
      throw ReplayError.sensorsElsewhere(node: node.id, source: other.id)
    }
    guard let sensors = reader.sensorReader else { return nil }
    (frames, self.sensors) = (reader, sensors)
    self.arrivesAtPresentation = arrivesAtPresentation
    fingerprint = "sensors \(try sensors.digest()) \(arrivesAtPresentation ? "pts" : "arrival")"
  }

  fileprivate static func requireSensors(
    of nodes: [PipelineNode], in reader: any FrameReader
  ) throws {
    let known = reader.sensorReader?.sensors.map(\.name) ?? []
    for node in nodes {
      for read in node.stage.sensorReads where !known.contains(read.sensor) {
        throw ReplayError.noSensor(node: node.id, sensor: read.sensor, known: known)
      }
    }
  }

  func applied(to pipeline: Pipeline) -> Pipeline {
    pipeline.reading(fingerprint: fingerprint) { try readings($0, $1) }
  }

  func applied(to stage: AnyStage) -> AnyStage {
    stage.reading(fingerprint: fingerprint) { try readings($0, $1) }
  }

  private func readings(
    _ reads: [SensorRead], _ context: StageContext
  ) throws -> [SensorReading] {
    let (track, sequence) = (context.frame.track, context.frame.sequence)
    guard let entry = try frames.entries(of: track, sequences: sequence..<sequence + 1).first else {
      return []
    }
    // sensor-read: by the frame's own times, whenever the stage runs.
    return try reads.compactMap { read in
      guard let track = sensors.sensors.first(where: { $0.name == read.sensor }) else { return nil }
      return try SensorReading(
        read, of: track, in: sensors, timestamp: entry.timestamp,
        arrival: arrivesAtPresentation ? entry.timestamp : entry.arrival,
        origin: entry.timestamp - context.timestamp)
    }
  }
}

extension SensorReading {
  /// The samples that a stage reads for a frame.
  ///
  /// - Parameter origin: Subtracted from the samples' times, as from the frame's.
  fileprivate init(
    _ read: SensorRead, of track: SensorTrack, in sensors: any SensorReader, timestamp: Timestamp,
    arrival: Timestamp, origin: Int64
  ) throws {
    let latest = try sensors.latest(of: track.number, at: arrival, arrivedBy: arrival)
    let length = read.length.nanoseconds
    let window =
      length <= 0
      ? []
      : try sensors.samples(
        of: track.number, after: timestamp - length, upTo: timestamp, arrivedBy: arrival)
    self.init(
      track: track, latest: latest?.shifted(by: -origin),
      window: window.map { $0.shifted(by: -origin) })
  }
}

extension SensorSample {
  fileprivate func shifted(by nanoseconds: Int64) -> SensorSample {
    SensorSample(time: time + nanoseconds, arrival: arrival + nanoseconds, values: values)
  }
}

extension Pipeline {
  /// Whether a session has every sensor that the stages read.
  ///
  /// - Throws: `ReplayError.noSensor`.
  package func requireSensors(in reader: any FrameReader) throws {
    try SensorBinding.requireSensors(of: flattened().nodes, in: reader)
  }
}
