package import RetakeCore

/// One sample of a sensor.
package struct SampleRecord: StoredRow {
  package var sensor = 0
  /// From 0, without gaps.
  package var index = 0
  /// When it was measured, on the session's time line; it never decreases within a sensor.
  package var timeNanoseconds: Int64 = 0
  /// When the recorder got it; it never decreases within a sensor.
  package var arrivalNanoseconds: Int64 = 0
  /// One for each channel.
  package var numbers: [Double] = []

  package init() {}

  package init(
    sensor: Int, index: Int, timeNanoseconds: Int64, arrivalNanoseconds: Int64, numbers: [Double]
  ) {
    (self.sensor, self.index, self.timeNanoseconds) = (sensor, index, timeNanoseconds)
    (self.arrivalNanoseconds, self.numbers) = (arrivalNanoseconds, numbers)
  }

  package static let table = Schema.Table(
    "sample", keyCount: 2, of: SampleRecord(),
    references: [
      "FOREIGN KEY (\"sensor\") REFERENCES sensor (\"sensor\")"
    ], firstVersion: Schema.firstVersionWithSensors)

  package mutating func visit(_ row: inout RowColumns) throws {
    try row.column("sensor", &sensor) { try $0.int(in: 0...Int64(SensorRecord.countMax - 1)) }
    try row.column("index", &index, "$ >= 0")
    try row.time("time_ns", &timeNanoseconds)
    try row.time("arrival_ns", &arrivalNanoseconds)
    try row.column("values", &numbers, "length($) % 8 = 0", as: Self.bytes(of:)) {
      try $0.numbers()
    }
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

  /// The record as users see it.
  package var sample: SensorSample {
    SensorSample(
      time: Timestamp(nanoseconds: timeNanoseconds),
      arrival: Timestamp(nanoseconds: arrivalNanoseconds), values: numbers)
  }
}

extension RowReader {
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
