import RetakeCore
import RetakeSession
import RetakeStore

/// The samples of one sensor of the session, at their arrivals.
final class SensorSource: JSONSource {
  private let reader: SessionReader
  private let sensor: SensorRecord
  private let channel: Int
  private var next = 0

  static func all(
    _ reader: SessionReader, clock: ExportClock, writer: MCAPWriter
  ) throws -> [any ExportSource] {
    try reader.index.store.sensors().map { sensor in
      let source = SensorSource(reader, sensor, clock: clock, writer: writer)
      try source.begin()
      return source
    }
  }

  private init(
    _ reader: SessionReader, _ sensor: SensorRecord, clock: ExportClock, writer: MCAPWriter
  ) {
    (self.reader, self.sensor) = (reader, sensor)
    channel = writer.add(
      topic: "/sensors/\(sensor.name)", encoding: "json", type: "retake.Sample",
      schemaEncoding: "jsonschema", schema: ExportSchemas.json("retake.Sample"))
    super.init(clock: clock)
  }

  override func load() throws -> [WaitingMessage] {
    let rows = try reader.index.store.samples(
      sensor: sensor.sensor, from: next, count: StoreReader.samplePageRows)
    next = rows.last.map { $0.index + 1 } ?? next
    return rows.map(message)
  }

  private func message(_ row: SampleRecord) -> WaitingMessage {
    let values = zip(sensor.channels, row.numbers).map { channel, number in
      (channel, number.isFinite ? JSONValue.number(number) : .null)
    }
    let sample = JSONValue.object([
      "timestamp": clock.json(row.timeNanoseconds), "kind": .string(sensor.kind),
      "unit": .string(sensor.unit),
      "values": .object(Dictionary(values) { first, _ in first }),
    ])
    return WaitingMessage(
      time: row.arrivalNanoseconds, channel: channel, text: sample.canonicalText)
  }
}
