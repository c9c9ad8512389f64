import Foundation
import RetakeCore
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeSensors

/// Measurements that drones write as subtitles become a sensor.
struct SubtitleTests {
  /// Entries with these texts, each a tenth of a second.
  private func entries(_ texts: [String]) -> String {
    texts.enumerated().map { place, text in
      "\(place + 1)\n00:00:0\(place / 10),\(place % 10)00 --> "
        + "00:00:0\((place + 1) / 10),\((place + 1) % 10)00\n\(text)\n\n"
    }.joined()
  }

  private func rows(_ text: String, options: String = "") throws -> (SensorTrack, [SampleRecord]) {
    let site = try SampleSite()
    try site.bring(text, as: "DJI_0001.SRT", options: options)
    let reader = try site.finish()
    return (
      try #require(try reader.sensors().first).track(samples: 0),
      try reader.samples(sensor: 0, from: 0, count: 999)
    )
  }

  /// The message of the error of an import, without its code.
  private func problem(_ text: String, options: String = "") -> String? {
    fault { try rows(text, options: options) }
  }

  @Test func `each number of an entry is a channel with its unit`() throws {
    let (sensor, rows) = try rows(
      """
      1
      00:00:00,000 --> 00:00:00,033
      <font size="28">FrameCnt: 1, DiffTime: 33ms
      2026-05-17 10:20:30.000
      [iso: 100] [shutter: 1/640.0] [fnum: 2.8] [ev: 0] [color_md: default] [focal_len: 24.00] \
      [latitude: 55.600001] [longitude: -12.5] [rel_alt: 20.000 abs_alt: 51.200] [ct: 5500] </font>

      2
      00:00:00,033 --> 00:00:00,067
      <font size="28">FrameCnt: 2, DiffTime: 34ms
      2026-05-17 10:20:30.033
      [iso: 200] [shutter: 1/640.0] [fnum: 2.8] [ev: 0] [color_md: default] [focal_len: 24.00] \
      [latitude: 55.600002] [longitude: -12.5] [rel_alt: 20.100 abs_alt: 51.300] [ct: 5500] </font>

      """)
    #expect(sensor.name == "telemetry" && sensor.kind == "telemetry")
    #expect(
      sensor.channels == [
        "framecnt", "difftime", "iso", "shutter", "fnum", "ev", "focal_len", "latitude",
        "longitude", "rel_alt", "abs_alt", "ct",
      ])
    #expect(sensor.unit == "1,ms,1,s,1,EV,mm,°,°,m,m,K")
    #expect(rows.map(\.timeNanoseconds) == [0, 33_000_000])
    #expect(
      rows[0].numbers == [1, 33, 100, 0.0015625, 2.8, 0, 24, 55.600001, -12.5, 20, 51.2, 5500])
    #expect(rows[1].numbers[0...2] == [2, 34, 200] && rows[1].numbers[9] == 20.1)
  }

  @Test func `the forms of older cameras are read`() throws {
    let (sensor, rows) = try rows(
      entries([
        "HOME(12.5,55.6) 2017.08.05 14:11:51\nGPS(12.5001,55.6,21) BAROMETER:30.1\n"
          + "ISO:100 Shutter:60 EV: Fnum:F2.8",
        "HOME(12.5,55.6) 2017.08.05 14:11:52\nGPS(12.5002,55.6,22) BAROMETER:30.2\n"
          + "ISO:100 Shutter:60 EV:-1.5 Fnum:F2.8",
      ]))
    #expect(
      sensor.channels == [
        "home_longitude", "home_latitude", "longitude", "latitude", "altitude", "barometer", "iso",
        "shutter", "ev", "fnum",
      ])
    let places = try ["longitude", "latitude", "altitude", "barometer", "shutter", "ev"].map {
      try #require(sensor.channels.firstIndex(of: $0))
    }
    #expect(rows.map(\.timeNanoseconds) == [0, 100_000_000])
    #expect(places[0...4].map { rows[0].numbers[$0] } == [12.5001, 55.6, 21, 30.1, 60])
    #expect(rows[0].numbers[places[5]].isNaN && rows[1].numbers[places[5]] == -1.5)
    #expect(sensor.unit.split(separator: ",")[places[4]] == "1/s")

    let (mini, values) = try self.rows(
      entries(["F/2.8, SS 206.14, ISO 150, EV 0, GPS (12.5, 55.6, 21), D 24.2m, H.S 3.2m/s"]))
    #expect(
      mini.channels == [
        "longitude", "latitude", "altitude", "fnum", "shutter", "iso", "ev", "distance",
        "horizontal_speed",
      ])
    #expect(mini.unit == "°,°,m,1,1/s,1,EV,m,m/s")
    #expect(values[0].numbers == [12.5, 55.6, 21, 2.8, 206.14, 150, 0, 24.2, 3.2])

    let (matrice, place) = try self.rows(entries(["GPS(36.6,-6.1,3.5M) BAROMETER:0.3M"]))
    #expect(matrice.channels == ["latitude", "longitude", "altitude", "barometer"])
    #expect(place[0].numbers == [36.6, -6.1, 3.5, 0.3])
  }

  @Test func `a field that an entry lacks is a missing value, wherever it begins`() throws {
    let (sensor, rows) = try rows(
      entries([
        "[iso: 100] [shutter: 1/50]",
        "[longtitude : 8] [latitude: N/A] [iso : 100] [shutter: 1/50]",
        "", "[shutter: 1/50] [latitude: 47.5] [longitude: 8] [iso: 50]", "lens cap",
      ]))
    #expect(sensor.channels == ["iso", "shutter", "longitude", "latitude"])
    #expect(rows.map(\.timeNanoseconds) == [0, 100_000_000, 300_000_000])
    #expect(rows[0].numbers[2].isNaN && rows[0].numbers[3].isNaN)
    #expect(rows[1].numbers[2] == 8 && rows[1].numbers[3].isNaN)
    #expect(rows[2].numbers == [50, 0.02, 8, 47.5])
  }

  @Test func `columns choose fields, and an offset moves the times`() throws {
    let text = entries(["[iso: 100] [ev: 0] [color_md: 1x]", "[iso: 200] [ev: 1] [color_md: dlog]"])
    let (sensor, rows) = try rows(text, options: "columns=ev+iso,offset=-50ms,name=camera")
    #expect(sensor.name == "camera" && sensor.channels == ["ev", "iso"])
    #expect(rows.map(\.numbers) == [[0, 100], [1, 200]])
    #expect(rows.map(\.timeNanoseconds) == [-50_000_000, 50_000_000])
    #expect(problem(text, options: "columns=isp")?.hasPrefix("sensor.column.unknown") == true)
    #expect(
      problem(text, options: "columns=color_md")
        == "sensor.line: line 3: '1x' is not a number; it is the color_md")
  }

  /// `DJI_0001.SRT` of a Mavic Air 2, where a blank is before each colon.
  @Test func `the compact form has the f-number times 100, and the focal length times 10`() throws {
    let (sensor, rows) = try rows(
      entries([
        "SrtCnt : 1, DiffTime : 33ms\n2023-01-06 18:56:48,380,821\n[iso : 3200] "
          + "[shutter : 1/50.0] [fnum : 280] [ev : 0.7] [ct : 3925] [color_md : default] "
          + "[focal_len : 240] [latitude: 55.6]",
        "[iso : 3200] [fnum : 2.8] [focal_len : 24.00]", "[fnum: 11] [focal_len: 240]",
      ]))
    func values(_ name: String) throws -> [Double] {
      let place = try #require(sensor.channels.firstIndex(of: name))
      return rows.map { $0.numbers[place] }
    }
    #expect(try values("fnum") == [2.8, 2.8, 11])
    #expect(try values("focal_len") == [24, 24, 240])
    #expect(try values("iso")[0] == 3200 && values("ct")[0] == 3925)
  }

  @Test(arguments: ["[ev: 1] [ev: 2]", "[ev: 1ms]", "[ev: x]", "[latitude: 555]"])
  func `columns leave out a field that cannot be read`(damage: String) throws {
    let text = entries(["[iso: 100] [ev: 0]", "[iso: 200] \(damage)", "[iso: 300] [ev: 0]"])
    let error = #expect(throws: SensorError.self) { try self.rows(text) }
    #expect(error?.facts.advice?.contains("columns=A+B") == true)
    #expect(try rows(text, options: "columns=iso").1.map(\.numbers) == [[100], [200], [300]])
  }

  @Test func `damage that no choice of columns leaves out is not said to be one`() throws {
    let text = entries(["[iso: 100] [ev: 0]", "[iso: 200] [ev: 1", "[iso: 300] [ev: 0]"])
    for options in ["", "columns=iso"] {
      let error = #expect(throws: SensorError.self) { try self.rows(text, options: options) }
      #expect(error?.facts.advice == "Correct the line, or remove it from the file")
    }
  }

  @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
  func `UTF-16 with its byte order mark is read`(encoding: String.Encoding) throws {
    let text = entries(["[iso: 100] [ev: 0]", "[iso: 200] [ev: 1]"])
    let site = try SampleSite()
    let file = site.folder.file("a.srt")
    let bytes = try #require(("\u{FEFF}" + text).data(using: encoding))
    try bytes.write(to: file)
    let found = try SensorFileImport(SensorRequest(parsing: file.path), start: 0)
      .run(into: site.samples)
    #expect(found.count == 2)
    // Half of a pair of surrogates.
    let damaged: [UInt8] = encoding == .utf16BigEndian ? [0xD8, 0x00] : [0x00, 0xD8]
    try (bytes.prefix(40) + damaged + bytes.dropFirst(40)).write(to: file)
    let cause = fault {
      try SensorFileImport(SensorRequest(parsing: file.path), start: 0).run(into: site.samples)
    }
    #expect(cause?.isEmpty == false)
  }

  /// As a Mini, a Mavic Air 2 and a Phantom 4 write them; the date is there twice.
  @Test(arguments: [
    "2026-05-17 10:20:30.000", "2023-01-06 18:56:48,380,821", "HOME(12.5,55.6) 2017.08.05 14:11:51",
  ])
  func `what was left out is named`(date: String) throws {
    let site = try SampleSite()
    let file = try site.folder.write(
      entries([
        "[iso: 100] [ev: 0] [color_md: dlog] [mode: ]",
        "\(date)\n[iso: 1] [ev: 1]\n2026/05/17 10:20:30",
        "hello",
      ]),
      to: "a.srt")
    let found = try SensorFileImport(SensorRequest(parsing: file.path), start: 0)
      .run(into: site.samples)
    #expect(found.count == 2)
    #expect(
      found.remarks == [
        "fields without numbers are left out: color_md, mode, date",
        "1 entry without fields is left out, from line 12 on",
      ])
  }

  @Test func `a byte order mark, CRLF, other line ends and lost blank lines are read`() throws {
    let text = entries(["[iso: 100] [ev: 0]", "[ev: 1] [iso: 200]"])
    let wanted = try rows(text).1.map(\.numbers)
    #expect(wanted == [[100, 0], [200, 1]])
    for other in [
      "\u{FEFF}" + text, text.replacing("\n", with: "\r\n"), text.replacing("\n\n", with: "\n"),
      text.replacing("\n\n", with: "\n\n\n"), text.replacing(",", with: "."),
      String(text.dropLast(2)), "\n\n" + text,
    ] {
      #expect(try rows(other).1.map(\.numbers) == wanted, "\(other)")
    }
  }

  @Test(arguments: [
    (
      "line 2: '00:00:0x,000 --> 00:00:00,100' is not two times", "00:00:00,000 -->",
      "00:00:0x,000 -->"
    ),
    ("line 6: the entry ends before it begins", "--> 00:00:00,200", "--> 00:00:00,050"),
    (
      "line 10: a time of the sensor telemetry is 100 ms earlier", "00:00:00,200 -->",
      "00:00:00,000 -->"
    ),
    ("line 7: a bracket is not closed", "[iso: 102]", "[iso: 102"),
    ("line 7: a bracket is not closed", "[iso: 102]", "[iso: [102]"),
    ("line 7: a bracket ends that did not begin", "[iso: 102]", "iso: 102]"),
    ("line 7: '[iso; 102]' is not a name and a value", "[iso: 102]", "[iso; 102]"),
    ("line 7: '[i#so: 102]' is not a name and a value", "[iso: 102]", "[i#so: 102]"),
    ("line 7: '1O2' is not a number; it is the iso", "[iso: 102]", "[iso: 1O2]"),
    ("line 7: '0x7F' is not a number; it is the iso", "[iso: 102]", "[iso: 0x7F]"),
    ("line 7: '1/0' is not a number; it is the iso", "[iso: 102]", "[iso: 1/0]"),
    ("line 7: '<02' is not a number; it is the iso", "[iso: 102]", "[iso: <02]"),
    ("line 7: its entry has 'iso' twice", "[iso: 102]", "[iso: 102] [iso: 102]"),
    ("line 7: the iso is in 'ms', and in '1' before", "[iso: 102]", "[iso: 102ms]"),
    ("line 7: the latitude is not a place", "[iso: 102]", "[iso: 102] [latitude: 555.6]"),
    ("line 7: the parenthesis of GPS is not closed", "[iso: 102]", "GPS(12.5,55.6"),
    ("line 7: GPS has 1 values", "[iso: 102]", "GPS(12.5)"),
    ("line 1: there are no times such as", "1\n00:00:00,000", "one\n00:00:00,000"),
  ])
  func `damage names its line`(wanted: String, part: String, change: String) throws {
    let text = entries((1...4).map { "[iso: 10\($0)] [ev: 0]" })
    try #require(text.contains(part))
    let found = problem(text.replacing(part, with: change, maxReplacements: 1))
    #expect(found?.contains(wanted) == true, "\(found ?? "no error")")
  }

  @Test func `speech and empty files are not telemetry`() throws {
    let speech = entries(["Hello, John: it is 5.", "[door] (laughs", "ISO: the EV: 7", "<i>No</i>"])
    #expect(problem(speech) == "sensor.subtitles: line 3: 'Hello, John: it is 5.' is not telemetry")
    // One entry about a camera is still speech.
    #expect(
      problem(entries(["a", "b", "c", "ISO: 100 EV: 1"]))?.hasPrefix("sensor.subtitles") == true)
    #expect(problem("")?.hasPrefix("sensor.empty") == true)
    #expect(problem(entries(["", ""]))?.hasPrefix("sensor.empty") == true)
    let pointer =
      "version https://git-lfs.github.com/spec/v1\noid sha256:"
      + String(repeating: "0", count: 64) + "\nsize 9\n"
    #expect(problem(pointer)?.hasPrefix("sensor.file.read") == true)
    let long = problem(entries([String(repeating: "[iso: 1]\n", count: 300)]))
    #expect(long == "sensor.line: line 259: its entry has more than 256 lines")
    #expect(problem("\0\0")?.hasPrefix("sensor.line: line 1") == true)
  }

  @Test func `times have hours, and a comma or a point`() {
    #expect(SubtitleFile.time("00:00:00,033") == 33_000_000)
    #expect(SubtitleFile.time("01:02:03.5") == 3_723_500_000_000)
    #expect(SubtitleFile.time("00:00:07") == 7_000_000_000)
    for wrong in [
      "", "00:00", "00:60:00,0", "00:00:60,0", "0:0:0", "-1:00:00,0", "00:00:00,", "a:00:00,0",
    ] {
      #expect(SubtitleFile.time(wrong[...]) == nil, "\(wrong)")
    }
  }
}
