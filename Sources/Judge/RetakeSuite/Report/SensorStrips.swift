import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeReport

/// Values of the sensors that a case's stages read, around the frames that a report shows.
struct SensorStrips {
  /// The most frames of one case; each has a strip for each sensor.
  private static let framesMax = 4
  private static let sensorsMax = 3
  /// With more curves, a reader cannot distinguish them.
  private static let channelsMax = 3
  /// More points than a strip has columns.
  private static let pointsMax = 400
  private static let reachNanoseconds: Int64 = 1_000_000_000

  private let result: CaseResult

  init(_ result: CaseResult) { self.result = result }

  /// Strips in the order of the frames, then of the stages. Frames and sensors that cannot be read
  /// are omitted: other parts of the report show the error.
  func strips(of frames: [FrameID]) -> [ReportSensorStrip] {
    let reads = self.reads
    guard !reads.isEmpty, !frames.isEmpty, let reader = result.openSession(),
      let sensors = reader.sensorReader
    else { return [] }
    return frames.prefix(Self.framesMax).flatMap { frame -> [ReportSensorStrip] in
      let entries = try? reader.entries(
        of: frame.track, sequences: frame.sequence..<frame.sequence + 1)
      guard let entry = entries?.first else { return [] }
      return reads.compactMap { strip(of: entry, $0, sensors) }
    }
  }

  private struct Reading {
    var node: String
    var read: SensorRead
  }

  /// Each sensor once, with its first stage.
  private var reads: [Reading] {
    var known: Set<String> = []
    var reads: [Reading] = []
    for node in result.pipeline?.flattened().nodes ?? [] {
      for read in node.stage.sensorReads where known.insert(read.sensor).inserted {
        reads.append(Reading(node: node.id, read: read))
      }
    }
    return Array(reads.prefix(Self.sensorsMax))
  }

  private func strip(
    of entry: FrameEntry, _ reading: Reading, _ sensors: any SensorReader
  ) -> ReportSensorStrip? {
    let reach = Self.reachNanoseconds
    guard let track = sensors.sensors.first(where: { $0.name == reading.read.sensor }),
      let all = try? sensors.samples(
        of: track.number, around: entry.timestamp, reach: reach), !all.isEmpty
    else { return nil }
    let count = min(all.count, Self.pointsMax)
    let samples = (0..<count).map { all[$0 * all.count / count] }
    let channels = track.channels.prefix(Self.channelsMax).enumerated()
    return ReportSensorStrip(
      frame: entry.id, sensor: track.name,
      // A list has the units of different channels.
      unit: track.unit.isEmpty || track.unit.contains(",") ? nil : track.unit,
      node: reading.node, windowNanoseconds: max(0, reading.read.length.nanoseconds),
      reachNanoseconds: reach,
      times: samples.map { $0.time.nanoseconds - entry.timestamp.nanoseconds },
      curves: channels.map { place, channel in
        ReportSensorStrip.Curve(
          channel: channel,
          // JSON has no NaN.
          values: samples.map { sample in
            sample.values.indices.contains(place) && sample.values[place].isFinite
              ? sample.values[place] : nil
          })
      })
  }
}
