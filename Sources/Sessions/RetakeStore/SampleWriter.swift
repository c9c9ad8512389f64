package import RetakeCore

/// Writes sensors and their samples into a session's database, a batch at a time.
///
/// It checks all that a reader relies on: names that occur once, a value for each channel, and
/// times that do not decrease. A rejected sample has not been written.
///
/// ```swift
/// let samples = SampleWriter(writer)
/// let imu = try samples.add(
///   name: "imu", kind: "gyroscope", unit: "rad/s", channels: ["x", "y", "z"], source: "/imu")
/// try samples.append(imu, time: header, arrival: logged, [0.1, 0, 0])
/// try samples.finish()
/// ```
package final class SampleWriter {
  private let writer: StoreWriter
  private var sensors: [Sensor] = []

  private struct Sensor {
    var record: SensorRecord
    var count = 0
    var time = Int64.min
    var arrival = Int64.min
  }

  /// - Parameters:
  ///   - writer: Its database has the present schema. Rows that wait in it are committed, too.
  ///   - existing: The sensors that the database already has, with the number of their samples; new
  ///     sensors are numbered after them.
  package init(_ writer: StoreWriter, after existing: [SensorTrack] = []) {
    precondition(writer.has(SampleRecord.table), "a database of an older schema has no sensors")
    self.writer = writer
    sensors = existing.map {
      Sensor(
        record: SensorRecord(
          sensor: $0.number, name: $0.name, kind: $0.kind, unit: $0.unit, channels: $0.channels,
          source: $0.source), count: $0.sampleCount)
    }
  }

  /// The sensors so far, with the number of their samples.
  package var tracks: [SensorTrack] { sensors.map { $0.record.track(samples: $0.count) } }

  /// A name that no sensor has yet: `wanted`, or `wanted` followed by `-2`, `-3` and so on.
  package func freeName(_ wanted: String) -> String {
    let known = Set(sensors.map(\.record.name))
    guard known.contains(wanted) else { return wanted }
    // Ends: there are at most `countMax` sensors.
    var number = 2
    while known.contains("\(wanted)-\(number)") { number += 1 }
    return "\(wanted)-\(number)"
  }

  /// Adds a sensor.
  ///
  /// - Parameters:
  ///   - name: Letters and digits of ASCII, `-`, `_`, `.` and `/`; unique in the session.
  ///   - channels: The names of a sample's values, at least 1 and at most 64.
  ///   - source: A file, a topic, or `live`.
  /// - Returns: its number.
  package func add(
    name: String, kind: String, unit: String = "", channels: [String], source: String
  ) throws -> Int {
    let number = (sensors.last?.record.sensor ?? -1) + 1
    let record = SensorRecord(
      sensor: number, name: name, kind: kind, unit: unit, channels: channels, source: source)
    try Self.check(record, among: sensors.map(\.record))
    writer.append([record])
    sensors.append(Sensor(record: record))
    return number
  }

  /// Checks the name of a new sensor, and that it has channels.
  package static func check(
    _ sensor: SensorRecord, among known: [SensorRecord]
  ) throws {
    let name = sensor.name
    guard known.count < SensorRecord.countMax else {
      throw SampleError.tooManySensors(most: SensorRecord.countMax)
    }
    guard isName(name) else { throw SampleError.badName(name) }
    guard !known.contains(where: { $0.name == name }) else { throw SampleError.nameTaken(name) }
    guard (1...SensorRecord.channelsMax).contains(sensor.channels.count) else {
      throw SampleError.channelCount(
        sensor: name, count: sensor.channels.count, most: SensorRecord.channelsMax)
    }
    for text in [sensor.kind, sensor.unit, sensor.source] + sensor.channels
    where !text.isSensorText {
      throw SampleError.badText(sensor: name)
    }
    guard !sensor.kind.isEmpty else { throw SampleError.badText(sensor: name) }
  }

  /// Adds the next sample of a sensor.
  ///
  /// - Parameters:
  ///   - time: When it was measured, in nanoseconds on the session's time line.
  ///   - arrival: When the recorder got it. A stage sees a sample only from then on. `nil`, for
  ///     files that do not say it, is the time of the measurement.
  ///   - numbers: A value for each channel; NaN for a missing value.
  package func append(
    _ sensor: Int, time: Int64, arrival: Int64? = nil, _ numbers: [Double]
  ) throws {
    guard let place = sensors.firstIndex(where: { $0.record.sensor == sensor }) else {
      preconditionFailure("the sensor was added to this writer")
    }
    let name = sensors[place].record.name
    let channels = sensors[place].record.channels.count
    guard numbers.count == channels else {
      throw SampleError.valueCount(sensor: name, count: numbers.count, channels: channels)
    }
    let bound = RowReader.nanosecondsMax
    let arrival = arrival ?? time
    for value in [time, arrival] where value < -bound || value > bound {
      throw SampleError.timeRange(sensor: name)
    }
    guard time >= sensors[place].time else {
      throw SampleError.backwards(sensor: name, nanoseconds: sensors[place].time - time)
    }
    guard arrival >= sensors[place].arrival else {
      throw SampleError.backwards(sensor: name, nanoseconds: sensors[place].arrival - arrival)
    }
    writer.append([
      SampleRecord(
        sensor: sensor, index: sensors[place].count, timeNanoseconds: time,
        arrivalNanoseconds: arrival, numbers: numbers)
    ])
    sensors[place].count += 1
    (sensors[place].time, sensors[place].arrival) = (time, arrival)
    if writer.pendingCount >= StoreWriter.batchRows { try finish() }
  }

  /// Commits the waiting samples. More may be appended afterwards.
  package func finish() throws {
    do { try writer.commit() } catch let error as StoreError {
      throw SampleError.store(error.facts)
    }
  }

  /// Copies all sensors of a session, with their samples before the end of a span. The samples
  /// begin with the last one at or before the span.
  ///
  /// - Parameter moved: A time of the session on the clock of the copy.
  package func copy(
    from reader: StoreReader, in span: Range<Int64> = .min ..< .max,
    moved: (Int64) -> Int64 = { $0 }
  ) throws {
    for sensor in try reader.sensors() {
      let number = try add(
        name: freeName(sensor.name), kind: sensor.kind, unit: sensor.unit,
        channels: sensor.channels, source: sensor.source)
      let before = try reader.samples(
        sensor: sensor.sensor, upTo: span.lowerBound,
        end: try reader.sampleEnd(sensor: sensor.sensor))
      try reader.eachSamplePage(sensor: sensor.sensor, from: max(0, before - 1)) { page in
        for row in page {
          guard row.timeNanoseconds < span.upperBound else { return false }
          try append(
            number, time: moved(row.timeNanoseconds), arrival: moved(row.arrivalNanoseconds),
            row.numbers)
        }
        return true
      }
    }
    try finish()
  }

  /// Adds rows that were read from a damaged database. Rows that do not fit are left out, and the
  /// others are numbered without gaps.
  ///
  /// - Returns: how many sensors and samples were added.
  package func append(
    salvaged rows: [SensorRecord], _ samples: [SampleRecord]
  ) throws -> (sensors: Int, samples: Int) {
    var numbers: [Int: Int] = [:]
    var added = 0
    for row in rows {
      numbers[row.sensor] = try? add(
        name: row.name, kind: row.kind, unit: row.unit, channels: row.channels, source: row.source)
    }
    for row in samples {
      guard let sensor = numbers[row.sensor] else { continue }
      do {
        try append(
          sensor, time: row.timeNanoseconds, arrival: row.arrivalNanoseconds, row.numbers)
        added += 1
      } catch SampleError.store(let facts) {
        throw SampleError.store(facts)
      } catch {
        // After a missing row, times may begin earlier; such a sample is lost, too.
        continue
      }
    }
    try finish()
    return (numbers.count, added)
  }

  private static func isName(_ name: String) -> Bool {
    (1...64).contains(name.utf8.count)
      && name.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
          || [0x2D, 0x2E, 0x2F, 0x5F].contains($0)
      }
  }
}
