import Foundation
package import RetakeCore

/// A sensor: the description of its samples.
package struct SensorRecord: StoredRow {
  /// The most sensors of a session.
  package static let countMax = 1_000
  /// The most channels of a sensor.
  package static let channelsMax = 64
  /// The most bytes of a name, a kind, a unit, a channel and a source.
  package static let textBytesMax = 256

  /// Its number in the session, from 0; it is unrelated to the numbers of image tracks.
  package var sensor = 0
  /// Unique in the session: stages read the sensor by this name.
  package var name = ""
  /// The measured quantity, such as `gyroscope`.
  package var kind = ""
  /// Of all channels, or a list with one for each, separated by commas; empty without a unit, or if
  /// the channels have different units.
  package var unit = ""
  /// In the order of a sample's values.
  package var channels: [String] = []
  /// Where the samples are from: the name of a file, of a topic, or `live`.
  package var source = ""

  package init() {}

  package init(
    sensor: Int, name: String, kind: String, unit: String, channels: [String], source: String
  ) {
    (self.sensor, self.name, self.kind, self.unit) = (sensor, name, kind, unit)
    (self.channels, self.source) = (channels, source)
  }

  package static let table = Schema.Table(
    "sensor", keyCount: 1, of: SensorRecord(), firstVersion: Schema.firstVersionWithSensors)

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("sensor", &sensor, "$ >= 0") { try $0.int(in: 0...Int64(Self.countMax - 1)) }
    try row.column("name", &name, "$ <> ''") { try $0.words() }
    try row.column("kind", &kind, "$ <> ''") { try $0.words() }
    try row.column("unit", &unit) { try $0.words() }
    try row.column("channels", &channels, as: Self.text(of:)) { try $0.channels() }
    try row.column("source", &source) { try $0.words() }
  }

  private static func text(of channels: [String]) -> String {
    JSONValue.array(channels.map { .string($0) }).canonicalText
  }

  /// The record as users see it.
  package func track(samples: Int) -> SensorTrack {
    SensorTrack(
      number: sensor, name: name, kind: kind, unit: unit, channels: channels, source: source,
      sampleCount: samples)
  }
}

extension RowReader {
  /// A string for people, which fits one line of a terminal and has no control characters.
  fileprivate mutating func words() throws -> String {
    let text = try text()
    guard text.isSensorText else { throw damage }
    return text
  }

  fileprivate mutating func channels() throws -> [String] {
    guard case .array(let values) = try? JSONValue(parsing: Data(try text().utf8)),
      (1...SensorRecord.channelsMax).contains(values.count)
    else { throw damage }
    var names: [String] = []
    for value in values {
      guard case .string(let name) = value, name.isSensorText else { throw damage }
      names.append(name)
    }
    return names
  }
}

extension String {
  /// Whether a sensor may have this name, kind, unit, channel or source.
  package var isSensorText: Bool {
    utf8.count <= SensorRecord.textBytesMax
      && !unicodeScalars.contains {
        $0.properties.generalCategory == .control || $0.properties.generalCategory == .format
          || $0.properties.generalCategory == .lineSeparator
          || $0.properties.generalCategory == .paragraphSeparator
      }
  }
}
