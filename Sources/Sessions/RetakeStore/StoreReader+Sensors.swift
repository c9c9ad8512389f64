import GRDB
import RetakeCore

/// Sensors and their samples. A database of an older schema has no sensors.
extension StoreReader {
  func has(_ table: Schema.Table) -> Bool { table.firstVersion <= Int64(schemaVersion) }

  /// In the order of their numbers.
  package func sensors() throws -> [SensorRecord] {
    let rows: [SensorRecord] = try rows("ORDER BY sensor LIMIT \(SensorRecord.countMax + 1)")
    guard rows.count <= SensorRecord.countMax else {
      throw StoreError.corrupt(
        path: path,
        cause: "sensor has more than \(SensorRecord.countMax) rows, which no session has")
    }
    // Stages read a sensor by its name, so no other may have it.
    var names: Set<String> = []
    for row in rows where !names.insert(row.name).inserted {
      throw StoreError.corrupt(path: path, cause: "two sensors have the name '\(row.name)'")
    }
    return rows
  }

  /// At most `count` samples of a sensor, from the index on; empty only after the last row.
  package func samples(
    sensor: Int, from index: Int, count: Int
  ) throws -> [SampleRecord] {
    try rows(
      "WHERE sensor = ? AND \"index\" >= ? ORDER BY \"index\" LIMIT ?", [sensor, index, count])
  }

  /// One more than the highest index of a sensor's samples; 0 without samples.
  package func sampleEnd(sensor: Int) throws -> Int {
    guard has(SampleRecord.table) else { return 0 }
    return try read { database in
      let walk = try RowWalk(
        "SELECT \"index\" FROM sample WHERE sensor = ? ORDER BY \"index\" DESC LIMIT 1", [sensor],
        in: database)
      guard try walk.next() else { return 0 }
      var reader = RowReader(walk, of: SampleRecord.table)
      return try reader.count() + 1
    }
  }

  /// The number of samples of a sensor that were measured at or before a time, which is the index
  /// of the first one after it. Times never decrease, so a few rows are enough to find it.
  package func samples(
    sensor: Int, upTo nanoseconds: Int64, end: Int
  ) throws -> Int {
    var (low, high) = (0, end)
    while low < high {
      let middle = low + (high - low) / 2
      guard let row = try samples(sensor: sensor, from: middle, count: 1).first else { return low }
      if row.timeNanoseconds <= nanoseconds { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// Samples per page: as many as are in memory at once while all of them are read.
  package static let samplePageRows = 4_096

  /// Passes on all samples of a sensor, page by page.
  package func eachSamplePage(
    sensor: Int, from index: Int = 0, _ body: ([SampleRecord]) throws -> Bool
  ) throws {
    try Self.eachPage(
      from: index, after: \.index,
      { try samples(sensor: sensor, from: $0, count: Self.samplePageRows) }, body)
  }

  /// Adds the sensors to the digest of the session. A session without sensors keeps the digest that
  /// it had before there were any.
  func appendSensors(to hasher: inout DigestHasher) throws {
    let sensors = try sensors()
    guard !sensors.isEmpty else { return }
    hasher.append("sensors")
    for sensor in sensors {
      hasher.append(sensor.sensor)
      for text in [sensor.name, sensor.kind, sensor.unit] { hasher.append(text) }
      hasher.append(sensor.channels.count)
      for channel in sensor.channels { hasher.append(channel) }
      hasher.append("samples")
      try each("WHERE sensor = ? ORDER BY \"index\"", [sensor.sensor]) { (sample: SampleRecord) in
        hasher.append(sample.index)
        hasher.append(sample.timeNanoseconds)
        hasher.append(sample.arrivalNanoseconds)
        hasher.append(SampleRecord.bytes(of: sample.numbers))
        return true
      }
    }
  }

  /// Complaints about samples that a reader would not find by their time: times that decrease, and
  /// values that do not match the channels.
  package func checkSamples() throws -> [Complaint] {
    var complaints: [Complaint] = []
    for sensor in try sensors() {
      var last: SampleRecord?
      try eachSamplePage(sensor: sensor.sensor) { page in
        for sample in page {
          if let cause = Self.damage(of: sample, after: last, of: sensor) {
            complaints.append(
              Complaint(
                kind: .row, text: "sample \(sample.index) of the sensor \(sensor.name) \(cause)",
                table: SampleRecord.table.name, key: [sensor.sensor, sample.index]))
          }
          last = sample
        }
        return complaints.count < Self.complaintCount
      }
    }
    return Array(complaints.prefix(Self.complaintCount))
  }

  private static func damage(
    of sample: SampleRecord, after last: SampleRecord?, of sensor: SensorRecord
  ) -> String? {
    if sample.numbers.count != sensor.channels.count {
      return "has \(counted(sample.numbers.count, "value")) for "
        + counted(sensor.channels.count, "channel")
    }
    guard let last else { return nil }
    if sample.timeNanoseconds < last.timeNanoseconds {
      return "is earlier than the previous sample"
    }
    if sample.arrivalNanoseconds < last.arrivalNanoseconds {
      return "arrived before the previous sample"
    }
    return nil
  }
}
