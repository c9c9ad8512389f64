import Foundation
import GRDB
import RetakeCore

extension Schema {
  static let sensor = Table(
    name: "sensor", keyCount: 1,
    columns: [
      .init("sensor", "INTEGER NOT NULL CHECK (\"sensor\" >= 0)"),
      .init("name", "TEXT NOT NULL CHECK (\"name\" <> '')"),
      .init("kind", "TEXT NOT NULL CHECK (\"kind\" <> '')"),
      .init("unit", "TEXT NOT NULL"),
      .init("channels", "TEXT NOT NULL"),
      .init("source", "TEXT NOT NULL"),
    ], firstVersion: firstVersionWithSensors)

  static let sample = Table(
    name: "sample", keyCount: 2,
    columns: [
      .init("sensor", "INTEGER NOT NULL"),
      .init("index", "INTEGER NOT NULL CHECK (\"index\" >= 0)"),
      .init("time_ns", "INTEGER NOT NULL"),
      .init("arrival_ns", "INTEGER NOT NULL"),
      .init("values", "BLOB NOT NULL CHECK (length(\"values\") % 8 = 0)"),
    ], references: ["FOREIGN KEY (\"sensor\") REFERENCES sensor (\"sensor\")"],
    firstVersion: firstVersionWithSensors)
}

extension SensorRecord: StoredRow {
  static var table: Schema.Table { Schema.sensor }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(sensor)
      $0.add(name)
      $0.add(kind)
      $0.add(unit)
      $0.add(JSONValue.array(channels.map { .string($0) }).canonicalText)
      $0.add(source)
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      sensor: try row.int(in: 0...Int64(Self.countMax - 1)), name: try row.words(),
      kind: try row.words(), unit: try row.words(), channels: try row.channels(),
      source: try row.words())
  }
}

extension SampleRecord: StoredRow {
  static var table: Schema.Table { Schema.sample }

  var values: [DatabaseValue] {
    RowBuilder.build {
      $0.add(sensor)
      $0.add(index)
      $0.add(timeNanoseconds)
      $0.add(arrivalNanoseconds)
      $0.add(Self.bytes(of: numbers))
    }
  }

  init(_ row: inout RowReader) throws {
    self.init(
      sensor: try row.int(in: 0...Int64(SensorRecord.countMax - 1)), index: try row.count(),
      timeNanoseconds: try row.nanoseconds(), arrivalNanoseconds: try row.nanoseconds(),
      numbers: try row.numbers())
  }

  /// 64-bit floating-point numbers one after another, little-endian on every machine.
  static func bytes(of values: [Double]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * values.count)
    for value in values {
      let bits = value.bitPattern
      for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: bits >> (8 * shift))) }
    }
    return bytes
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

  fileprivate mutating func numbers() throws -> [Double] {
    let bytes = try blob()
    guard bytes.count % 8 == 0, (1...SensorRecord.channelsMax).contains(bytes.count / 8) else {
      throw damage
    }
    return stride(from: 0, to: bytes.count, by: 8).map { start in
      var bits: UInt64 = 0
      for place in 0..<8 { bits |= UInt64(bytes[start + place]) << UInt64(8 * place) }
      return Double(bitPattern: bits)
    }
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
