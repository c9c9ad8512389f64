import Foundation
import RetakeCore
import RetakeSession
import RetakeStore

/// The events of the session, at their times.
final class EventSource: JSONSource {
  private let reader: SessionReader
  private let channel: Int
  private var next = 0

  /// Empty for a session without events.
  static func all(
    _ reader: SessionReader, clock: ExportClock, writer: MCAPWriter
  ) throws -> [any ExportSource] {
    guard try reader.index.store.eventCount() > 0 else { return [] }
    let source = EventSource(reader, clock: clock, writer: writer)
    try source.begin()
    return [source]
  }

  private init(_ reader: SessionReader, clock: ExportClock, writer: MCAPWriter) {
    self.reader = reader
    channel = writer.add(
      topic: "/events", encoding: "json", type: "retake.Event", schemaEncoding: "jsonschema",
      schema: ExportSchemas.json("retake.Event"))
    super.init(clock: clock)
  }

  override func load() throws -> [WaitingMessage] {
    let rows = try reader.index.store.events(from: next, count: StoreReader.samplePageRows)
    next = rows.last.map { $0.ordinal + 1 } ?? next
    return rows.map(message)
  }

  private func message(_ row: EventRecord) -> WaitingMessage {
    let data = try? JSONValue(parsing: Data(row.json.utf8))
    let event = JSONValue.object([
      "timestamp": clock.json(row.timeNanoseconds), "source": .string(row.source),
      "kind": .string(row.kind), "track": row.track.map { JSONValue.integer(Int64($0)) } ?? .null,
      "data": data ?? .string(row.json),
    ])
    return WaitingMessage(time: row.timeNanoseconds, channel: channel, text: event.canonicalText)
  }
}
