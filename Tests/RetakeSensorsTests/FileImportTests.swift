import Foundation
import RetakeCore
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeSensors

/// A database that samples are imported into.
final class SampleSite {
  let folder: TemporaryFolder
  private let writer: StoreWriter
  let samples: SampleWriter

  init() throws {
    folder = try TemporaryFolder()
    writer = try StoreWriter(
      creating: folder.file("session.sqlite").path, durability: .building)
    samples = SampleWriter(writer)
  }

  /// Imports a file with this text.
  @discardableResult
  func bring(
    _ text: String, as name: String, options: String = "", start: Int64 = 0
  ) throws -> Int {
    let file = try folder.write(text, to: name)
    let request = try SensorRequest(parsing: file.path + (options.isEmpty ? "" : ":" + options))
    return try SensorFileImport(request, start: start).run(into: samples).count
  }

  func finish() throws -> StoreReader {
    try writer.close()
    return try StoreReader(opening: folder.file("session.sqlite").path)
  }
}

/// `code: message` of the error that the body throws; `nil` without an error.
func fault(_ body: () throws -> some Any) -> String? {
  do {
    _ = try body()
    return nil
  } catch {
    let error = error as? any CodedError
    return "\(error?.code ?? "?"): \(error?.message ?? "")"
  }
}

/// Files of samples become sensors.
struct FileImportTests {
  @Test func `a table becomes a sensor`() throws {
    let site = try SampleSite()
    try site.bring(
      "# a logger\r\nt,gx,gy,note\r\n1000,0.5,-1,\r\n\r\n2000,,1e-3,\"4\"\r\n", as: "imu log.csv",
      options: "unit=us,offset=-1ms,kind=gyroscope,value-unit=rad/s")
    let reader = try site.finish()
    let sensor = try #require(try reader.sensors().first)
    #expect(sensor.name == "imu-log" && sensor.kind == "gyroscope" && sensor.unit == "rad/s")
    #expect(sensor.channels == ["gx", "gy", "note"] && sensor.source == "imu log.csv")
    let rows = try reader.samples(sensor: 0, from: 0, count: 9)
    #expect(rows.map(\.timeNanoseconds) == [0, 1_000_000])
    #expect(rows[0].numbers[0] == 0.5 && rows[0].numbers[2].isNaN)
    #expect(rows[1].numbers[0].isNaN && rows[1].numbers[1...] == [0.001, 4])
  }

  @Test func `columns, separators, units and missing names are found`() throws {
    let site = try SampleSite()
    try site.bring("time_ns;a;b\n5;1;2\n", as: "a.csv", options: "columns=b")
    try site.bring("0\t1\n0.5\t2\n", as: "b.tsv", options: "name=plain")
    try site.bring("\u{FEFF}Timestamp,x\n1,2\n", as: "c.csv", options: "offset=start", start: 77)
    let reader = try site.finish()
    #expect(try reader.sensors().map(\.channels) == [["b"], ["2"], ["x"]])
    let times = try (0..<3).map {
      try reader.samples(sensor: $0, from: 0, count: 9).map(\.timeNanoseconds)
    }
    #expect(times == [[5], [0, 500_000_000], [77]])
  }

  @Test func `lines of JSON become a sensor`() throws {
    let site = try SampleSite()
    try site.bring(
      """
      {"t": 1700000000.25, "gyro": {"x": 1, "y": 2.5}, "accel": [3, 4], "note": "on"}
      {"t": 1700000000.75, "gyro": {"x": null, "y": 1}, "accel": [5, 6]}
      """, as: "imu.jsonl", options: "offset=start", start: 10)
    let reader = try site.finish()
    #expect(try reader.sensors()[0].channels == ["accel.0", "accel.1", "gyro.x", "gyro.y"])
    let rows = try reader.samples(sensor: 0, from: 0, count: 9)
    #expect(rows.map(\.timeNanoseconds) == [10, 500_000_010])
    #expect(rows[0].numbers == [3, 4, 1, 2.5] && rows[1].numbers[2].isNaN)
  }

  @Test func `a track of GPX becomes a sensor`() throws {
    let site = try SampleSite()
    try site.bring(
      """
      <?xml version="1.0"?><gpx><!-- <trkpt> --><trk><trkseg>
      <trkpt lat="47.5" lon='-8.25'><ele>410.5</ele><time>2024-05-01T10:00:00Z</time></trkpt>
      <g:trkpt lat="47.6"
        lon="8.3"><time>2024-05-01T10:00:01.5Z</time><extensions><x/><x:time>never</x:time>
        <y><ele>7</ele></y></extensions></g:trkpt>
      </trkseg></trk></gpx>
      """, as: "walk.gpx", start: 33)
    let reader = try site.finish()
    let rows = try reader.samples(sensor: 0, from: 0, count: 9)
    #expect(try reader.sensors()[0].name == "gps")
    #expect(rows.map(\.timeNanoseconds) == [33, 1_500_000_033])
    #expect(rows[0].numbers == [47.5, -8.25, 410.5] && rows[1].numbers[2].isNaN)
  }

  @Test func `sentences of a GPS receiver become a sensor`() throws {
    let site = try SampleSite()
    try site.bring(
      """
      $GPGGA,123518.00,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,
      $GPRMC,123519.50,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W
      $GPGGA,123519.50,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,
      $GPGSV,1,1,00
      noise
      $GPRMC,123520.50,V,,,,,,,230394,,
      $GPRMC,123521.00,A,4807.038,S,01131.000,W,022.4,084.4,230394,003.1,W*40
      """, as: "walk.nmea")
    let reader = try site.finish()
    let rows = try reader.samples(sensor: 0, from: 0, count: 9)
    #expect(rows.map(\.timeNanoseconds) == [0, 1_500_000_000])
    #expect(abs(rows[0].numbers[0] - 48.1173) < 1e-9 && rows[0].numbers[2] == 545.4)
    #expect(rows[1].numbers[0] < 0 && rows[1].numbers[1] < 0 && rows[1].numbers[2].isNaN)
  }

  @Test func `a position that the receiver calls void is left out, and counted`() throws {
    let site = try SampleSite()
    let file = try site.folder.write(
      """
      12:00 $GPRMC,123519.00,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W
      \\s:rig*00\\$GPGGA,123519.00,0000.000,N,00000.000,E,0,00,,,M,,M,,
      $GPRMC,123520.00,V,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W
      $gprmc

      $GPRMC,123521.00,A,4808.000,N,01131.000,E,022.4,084.4,230394,003.1,W
      booted
      """, to: "walk.nmea")
    let outcome = try SensorFileImport(SensorRequest(parsing: file.path), start: 0)
      .run(into: site.samples)
    #expect(
      outcome.remarks == [
        "line 7 has no NMEA sentence", "2 lines have void positions; the first is line 2",
      ])
    let rows = try site.finish().samples(sensor: 0, from: 0, count: 9)
    #expect(rows.map(\.timeNanoseconds) == [0, 2_000_000_000])
    #expect(abs(rows[0].numbers[0] - 48.1173) < 1e-9 && rows[0].numbers[1] > 11)
  }

  @Test(arguments: [
    ("time_ms,x\n2024-05-01T10:00:00Z,1\n2024-05-01T10:00:01Z,2\n", "a.csv", ""),
    (
      """
      {"time": "2024-05-01T12:00:00+02:00", "x": 1}
      {"time": "2024-05-01T10:00:01Z", "x": 2}
      """, "a.jsonl", ""
    ),
    ("t;x\n2024-05-01 10:00:00;1\n2024-05-01 10:00:01;2\n", "a.csv", "unit=date"),
  ])
  func `dates are noticed, and begin with the session`(
    text: String, name: String, options: String
  ) throws {
    let site = try SampleSite()
    try site.bring(text, as: name, options: options, start: 5)
    let rows = try site.finish().samples(sensor: 0, from: 0, count: 9)
    #expect(rows.map(\.timeNanoseconds) == [5, 1_000_000_005])
  }

  @Test func `a column without a name is called by its place`() throws {
    let site = try SampleSite()
    try site.bring("t,x,\n1,2,\n", as: "a.csv")
    #expect(try site.finish().sensors()[0].channels == ["x", "3"])
  }

  @Test func `sentences on both sides of midnight follow each other`() throws {
    let site = try SampleSite()
    try site.bring(
      """
      $GPGGA,235959.50,4807.038,N,01131.000,E,1,08,0.9,540.0,M,46.9,M,,
      $GPRMC,235959.50,A,4807.038,N,01131.000,E,022.4,084.4,311224,003.1,W
      $GPGGA,235959.75,4807.038,N,01131.000,E,1,08,0.9,541.0,M,46.9,M,,
      $GPGGA,000000.25,4807.038,N,01131.000,E,1,08,0.9,542.0,M,46.9,M,,
      $GPRMC,000001.00,A,4807.038,N,01131.000,E,022.4,084.4,010125,003.1,W
      """, as: "night.nmea")
    let rows = try site.finish().samples(sensor: 0, from: 0, count: 9)
    #expect(rows.map(\.timeNanoseconds) == [0, 250_000_000, 750_000_000, 1_500_000_000])
    #expect(rows.map { $0.numbers[2] }.prefix(3) == [540, 541, 542])
  }

  @Test func `days that a month has not are no dates`() {
    #expect(SensorTime.date("2024-02-29T00:00:00") != nil)
    for day in ["2023-02-29", "2024-02-30", "2024-04-31", "2024-13-01", "2024-01-00"] {
      #expect(SensorTime.date("\(day)T00:00:00") == nil, "\(day)")
    }
  }

  @Test func `not a number and infinity are written in letters`() {
    for text in ["nan", "NaN", "-inf", "Infinity"] {
      #expect(SensorNumber.parse(text) != nil, "\(text)")
    }
    for text in ["1\0", "0x1p4", "nan(7)", "1_000", "", "--1", "1e400"] {
      #expect(SensorNumber.parse(text) == nil, "\(text)")
    }
  }

  /// Each is a separate error, at its line, and the import does not leave part of a sensor.
  @Test(arguments: [
    (
      "t,x\n1,2\n0.5,2\n", "a.csv",
      "sensor.time.backwards: line 3: a time of the sensor a is 500 ms earlier than the previous time"
    ),
    ("t,x\n1,2\n2,b\n", "a.csv", "sensor.line: line 3: 'b' in the column 'x' is not a number"),
    ("t,x\n1,2\n3\n", "a.csv", "sensor.line: line 3: it has 1 field, and the first line 2"),
    ("t,x\nnow,2\n", "a.csv", "sensor.line: line 2: 'now' is not a time in s"),
    ("t,x\n9e17,2\n", "a.csv", "sensor.line: line 2: '9e17' is not a time in s"),
    (
      "t,x\n4e9,2\n", "a.csv", "sensor.time.range: line 2: a time of the sensor a is too far from 0"
    ),
    (
      "t,x\n1,\"2\n", "a.csv",
      "sensor.line: line 2: a quote is not closed, or there are more than 4096 fields"
    ),
    ("", "a.csv", "sensor.empty: the file has no sample"),
    ("t,x\n", "a.csv", "sensor.empty: the file has no sample"),
    (
      "t\n1\n", "a.csv",
      "sensor.onlyTimes: the file has times but no values, so it is not a sensor"
    ),
    (
      "# timecode format v2\n0.000\n33.333\n", "video.pts",
      "sensor.onlyTimes: the file has times but no values, so it is not a sensor"
    ),
    ("a,b\n1,2\n", "a.csv", "sensor.column.unknown: the file has no column 'time'"),
    ("{\"t\":1,\"x\":2}\n{\"t\":\n", "a.jsonl", "sensor.line: line 2: it is not one JSON object"),
    ("[1]\n", "a.jsonl", "sensor.line: line 1: it is not one JSON object"),
    ("{\"t\":1,\"x\":2}\n{\"x\":1}\n", "a.jsonl", "sensor.line: line 2: it has no 't'"),
    (
      "<gpx><trkpt lat=\"1\" lon=\"2\"><time>x</time></trkpt></gpx>", "a.gpx",
      "sensor.line: line 1: 'x' is not a date with a time"
    ),
    (
      "<gpx><trkpt lat=\"91\" lon=\"2\">", "a.gpx",
      "sensor.line: line 1: a point has no latitude from -90 to 90 and longitude from -180 to 180"
    ),
    (
      "<gpx><trkpt lat=\"1\" lon=\"2\"><ele>high</ele>", "a.gpx",
      "sensor.line: line 1: 'high' is not an elevation"
    ),
    (
      "$GPRMC,123519,A,4807.038,N,01131.000,E,fast,084.4,230394,003.1,W\n", "a.nmea",
      "sensor.line: line 1: 'fast' is not a number; it is the speed"
    ),
    (
      "$GPRMC,123519,A,4807.038,N,01131.000,E,1,084.4,300223,003.1,W\n", "a.nmea",
      "sensor.line: line 1: '300223' is not a date"
    ),
    ("t,x\n1,1e400\n", "a.csv", "sensor.line: line 2: '1e400' in the column 'x' is not a number"),
    ("t,x\n1,0x10\n", "a.csv", "sensor.line: line 2: '0x10' in the column 'x' is not a number"),
    ("t,x,x\n1,2,3\n", "a.csv", "sensor.column.twice: two of the values are called 'x'"),
    (
      "{\"t\":1,\"a.b\":1,\"a\":{\"b\":2}}\n", "a.jsonl",
      "sensor.column.twice: two of the values are called 'a.b'"
    ),
    (
      "time,x\n2024-04-31T00:00:00Z,1\n", "a.csv",
      "sensor.line: line 2: '2024-04-31T00:00:00Z' is not a time in s"
    ),
    (
      "<gpx><trkpt lat=\"1\" lon=\"2\"><ele>1</ele></trkpt></gpx>", "a.gpx",
      "sensor.line: line 1: a point has no time"
    ),
    (
      "<gpx><trkpt lat=\"1\" lon=\"2\"><a></trkpt></gpx>", "a.gpx",
      "sensor.line: line 1: a point ends before its elements"
    ),
    (
      "<gpx><trkpt lat=\"1\" lon=\"2\"></a></trkpt></gpx>", "a.gpx",
      "sensor.line: line 1: a tag ends that did not begin"
    ),
    (
      "$GPGGA,123518.00,4807.038,N,01131.000,E,1,08,0.9,545.4,M,46.9,M,,\n", "a.nmea",
      "sensor.undated: the positions have no date"
    ),
    (
      "<gpx><trkpt lat=\"1\" lon=\"2\"><ele>1", "a.gpx",
      "sensor.line: line 1: the file ends inside a tag"
    ),
    (
      "$GPRMC,123519,A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W*00\n", "a.nmea",
      "sensor.line: line 1: its checksum is 00, but should be 6a"
    ),
  ])
  func `what cannot be read is an error at its line`(
    text: String, name: String, message: String
  ) throws {
    let site = try SampleSite()
    #expect(fault { try site.bring(text, as: name) } == message)
  }

  @Test(arguments: [
    ("imu.csv:time=t,unt=us", "there is no 'unt'. Did you mean 'unit'?"),
    ("imu.csv:unit=h", "unit is s, ms, us, ns or date, not 'h'"),
    ("imu.csv:time=", "'time=' is not key=value"),
    ("imu.csv:time=t,time=u", "'time' is given twice"),
    ("imu.csv:offset=soon", "offset is a time such as 250ms or -1.5s, or 'start', not 'soon'"),
    (":time=t", "there is no file"),
    ("imu.csv:format=xml", "format is csv, jsonl, gpx, nmea or srt, not 'xml'"),
  ])
  func `a mistyped option says what is wrong`(text: String, problem: String) {
    #expect(throws: SensorError.badOption(text: text, problem: problem)) {
      try SensorRequest(parsing: text)
    }
  }

  @Test func `a path may have colons, and the options are behind the last one`() throws {
    #expect(try SensorRequest(parsing: "a:b.csv:unit=ms").file == "a:b.csv")
    #expect(try SensorRequest(parsing: "a:b.csv").file == "a:b.csv")
  }

  /// 200,000 samples go through a sensor's batches, and a file of zeros, which says that it has 10
  /// GB, ends at its first line.
  @Test func `a file of any size is read piece by piece`() throws {
    let site = try SampleSite()
    var text = "t,x\n"
    for number in 0..<200_000 { text += "\(number),1\n" }
    #expect(try site.bring(text, as: "long.csv", options: "unit=us") == 200_000)

    let hole = site.folder.file("hole.csv")
    try Data().write(to: hole)
    let handle = try FileHandle(forWritingTo: hole)
    try handle.truncate(atOffset: 10_000_000_000)
    try handle.close()
    let request = try SensorRequest(parsing: hole.path)
    #expect(
      fault { try SensorFileImport(request, start: 0).run(into: site.samples) }
        == "sensor.line.long: line 1 has more than 1048576 bytes")
  }
}
