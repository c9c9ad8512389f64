import Foundation
import RetakeCore
import RetakeMedia
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// Real footage, which is not part of the project.
private let footage = sharedMedia("karma.mp4")?.path ?? ""

/// Sensors that are imported with the frames.
@Suite struct SensorImportTests {
  private func clip(in folder: TemporaryFolder) throws -> String {
    try Clip.oddSize.make(in: folder).path
  }

  @Test func `a file of samples is imported with a clip`() throws {
    let folder = try TemporaryFolder()
    let log = try folder.write("t,x,y\n0,1,2\n10000,3,4\n", to: "imu.csv")
    let result = try SessionImporter(
      ImportOptions(
        file: try clip(in: folder), name: "yard", into: folder.file("R").path,
        sensors: ["\(log.path):time=t,unit=us,name=gyroscope,offset=5ms"])
    ).run()
    #expect(result.sensors.map(\.name) == ["gyroscope"])
    let reader = try SessionReader(opening: result.folder.path)
    #expect(reader.sensors == result.sensors)
    let sensors = try #require(reader.sensorReader)
    let latest = try sensors.latest(
      of: 0, at: Timestamp(nanoseconds: 14_999_999), arrivedBy: Timestamp(nanoseconds: .max))
    #expect(latest?.values == [1, 2] && latest?.time.nanoseconds == 5_000_000)
    #expect(try reader.info().sensors?.map(\.samples) == [2])
    let diagnosis = try SessionCheck(path: result.folder.path).run()
    #expect(diagnosis.isHealthy)
    #expect(diagnosis.findings.contains { $0.code == "session.check.sensor" })
  }

  @Test func `samples that lie beside all frames are a note`() throws {
    let folder = try TemporaryFolder()
    let log = try folder.write("time,x\n1714566600.5,1\n", to: "imu.csv")
    func notes(_ options: String) throws -> [String] {
      try SessionImporter(
        ImportOptions(
          file: try clip(in: folder), name: "y\(options.count)", into: folder.file("R").path,
          sensors: [log.path + options])
      ).run().notes.filter { $0.contains("imu.csv") }
    }
    let found = try notes("")
    #expect(found.count == 1 && found[0].contains("Check the unit and the offset"), "\(found)")
    #expect(try notes(":offset=start").isEmpty)
  }

  @Test func `a rebuilt index keeps the samples`() throws {
    let folder = try TemporaryFolder()
    let log = try folder.write("t,x\n0,1\n0.5,2\n", to: "imu.csv")
    let result = try SessionImporter(
      ImportOptions(
        file: try clip(in: folder), name: "yard", into: folder.file("R").path,
        sensors: [log.path])
    ).run()
    let path = result.folder.path
    let digest = try SessionReader(opening: path).sessionDigest()
    let cut = try runSQLite(
      arguments: [path + "/session.sqlite", "DELETE FROM packet WHERE \"index\" > 5"])
    try #require(cut.status == 0)
    #expect(try SessionRecovery(path, fromMedia: true).run().notes.isEmpty)
    let again = try SessionReader(opening: path)
    #expect(try again.sessionDigest() == digest)
    #expect(again.sensors.map(\.sampleCount) == [2])

    try FileManager.default.removeItem(atPath: path + "/session.sqlite")
    let notes = try SessionRecovery(path, fromMedia: true).run().notes
    #expect(notes.count == 1 && notes[0].contains("sensors again"), "\(notes)")
    #expect(try SessionReader(opening: path).sensors.isEmpty)
  }

  @Test func `a wrong file of samples leaves no session`() throws {
    let folder = try TemporaryFolder()
    let clip = try clip(in: folder)
    let log = try folder.write("t,x\n1,1\n0,2\n", to: "imu.csv")
    let into = folder.file("R").path
    for (sensor, wanted) in [
      (log.path, "sensor.time.backwards"), (folder.file("none.csv").path, "sensor.file.missing"),
      ("\(log.path):unit=h", "sensor.option"), (clip, "sensor.format.unknown"),
      (folder.url.path + "/:format=csv", "sensor.file.read"),
    ] {
      let found = code {
        try SessionImporter(
          ImportOptions(file: clip, name: "yard", into: into, sensors: [sensor])
        ).run()
      }
      #expect(found == wanted, "\(sensor)")
      let left = try? FileManager.default.contentsOfDirectory(atPath: into)
      #expect(left?.isEmpty ?? true, "\(sensor): \(left ?? [])")
    }
  }

  /// 400 copies of five files, each changed in a few places. Each becomes a session that the doctor
  /// finds healthy, or a typed error with a place and no file.
  @Test func `no file of samples ends the process or leaves half a session`() throws {
    let folder = try TemporaryFolder()
    let clip = try clip(in: folder)
    let into = folder.file("R").path
    let files = Self.files
    var numbers = SeededGenerator(seed: 5)
    var (made, refused) = (0, 0)
    for round in 0..<400 {
      let (name, text) = files[round % files.count]
      let log = folder.file(name)
      try Self.changed(Array(text.utf8), &numbers).write(to: log)
      do {
        let result = try SessionImporter(
          ImportOptions(
            file: clip, name: "yard", into: into, link: true, sensors: [log.path])
        ).run()
        made += 1
        let store = try SessionReader(opening: result.folder.path).index.store
        try store.requireWhole()
        #expect(try store.checkSamples().isEmpty, "round \(round)")
        try FileManager.default.removeItem(atPath: result.folder.path)
      } catch {
        refused += 1
        #expect(error.facts.code.hasPrefix("sensor."), "round \(round): \(error)")
        #expect(error.facts.place?.file != nil, "round \(round): \(error)")
        let left = try? FileManager.default.contentsOfDirectory(atPath: into)
        #expect(left?.isEmpty ?? true, "round \(round)")
      }
    }
    #expect(made + refused == 400 && refused > 100, "\(made) made, \(refused) refused")
  }

  /// Complete files, by name.
  private static let files: [(name: String, text: String)] = {
    var (table, lines, gpx, nmea) = ("t,x,y\n", "", "<gpx><trk>", "")
    for number in 10..<40 {
      table += "\(number),0.5,-1e\(number % 9)\n"
      lines += "{\"t\": \(number), \"gyro\": [1.5, \(number)]}\n"
      gpx += "<trkpt lat=\"4\(number % 10).5\" lon=\"8\"><ele>1</ele>"
      gpx += "<time>2024-05-01T10:00:\(number)Z</time></trkpt>\n"
      nmea += "$GPRMC,1235\(number),A,4807.038,N,01131.000,E,022.4,084.4,230394,003.1,W\n"
    }
    gpx += "</trk></gpx>"
    return [
      ("imu.csv", table), ("imu.jsonl", lines), ("walk.gpx", gpx), ("walk.nmea", nmea),
      ("odd.csv", "\u{FEFF}time_ms;a;\"b;c\"\n1;2;\"3\"\n2;;4\n"),
    ]
  }()

  private static func changed(_ bytes: [UInt8], _ numbers: inout SeededGenerator) -> Data {
    var bytes = bytes
    for _ in 0...Int.random(in: 0..<3, using: &numbers) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &numbers)
      switch Int.random(in: 0..<5, using: &numbers) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
      case 1: bytes.removeSubrange(place...)
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + 9))
      case 3: bytes.insert(contentsOf: Array("-9e99,\"".utf8), at: place)
      default: bytes.insert(contentsOf: bytes.suffix(40), at: place)
      }
    }
    return Data(bytes)
  }

  // MARK: Telemetry of real footage

  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "karma.mp4 is not on this machine"))
  func `what a drone measured is on the clock of its frames`() throws {
    let folder = try TemporaryFolder()
    let result = try SessionImporter(
      ImportOptions(file: footage, name: "karma", into: folder.file("R").path, link: true)
    ).run()
    let counts = Dictionary(
      uniqueKeysWithValues: result.sensors.map { ($0.name, $0.sampleCount) })
    #expect(counts["gyroscope"] == 4_795 && counts["accelerometer"] == 2_397)
    #expect(counts["shutter"] == 361 && counts["iso"] == 361)
    #expect(counts["gps"] == 47 && counts["attitude"] == 47 && counts["battery"] == 12)

    let store = try SessionReader(opening: result.folder.path).index.store
    let shutter = try #require(result.sensors.first { $0.name == "shutter" })
    let times = try store.samples(sensor: shutter.number, from: 0, count: 999)
      .map(\.timeNanoseconds)
    let probe = try runCommand(
      "ffprobe",
      arguments: [
        "-v", "error", "-select_streams", "v:0", "-show_entries", "packet=pts_time", "-of",
        "csv=p=0", footage,
      ])
    let packets = probe.stdout.split(separator: "\n")
      .compactMap { Double($0.prefix { $0 != "," }) }.sorted()
    #expect(packets.count == 362)
    // The camera began to measure with the second frame.
    for (time, packet) in zip(times, packets.dropFirst()) {
      #expect(abs(Double(time) / 1e9 - packet) < 0.001)
    }
    let without = try SessionImporter(
      ImportOptions(
        file: footage, name: "plain", into: folder.file("R").path, link: true,
        hasTelemetry: false, hasSound: false)
    ).run()
    #expect(without.sensors.isEmpty)
  }

  /// 60 copies of real footage with changed telemetry: samples, or an error with packet and byte.
  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "karma.mp4 is not on this machine"))
  func `no telemetry ends the process or leaves half a session`() throws {
    let folder = try TemporaryFolder()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: footage))
    let demuxer = try MediaDemuxer(path: footage)
    let stream = try #require(demuxer.streams.first { $0.fourCharacters == "gpmd" })
    demuxer.select([stream.index])
    var places: [Range<Int>] = []
    while let packet = try demuxer.nextPacket() {
      if packet.stream == stream.index, let offset = packet.offset {
        places.append(Int(offset)..<Int(offset) + packet.size)
      }
    }
    try #require(places.count == 13)
    var numbers = SeededGenerator(seed: 9)
    let into = folder.file("R").path
    var refused = 0
    for round in 0..<60 {
      var copy = bytes
      for _ in 0...Int.random(in: 0..<3, using: &numbers) {
        let packet = places[Int.random(in: 0..<places.count, using: &numbers)]
        // Mostly the structure near the beginning of a packet.
        let reach = Int.random(in: 1...packet.count, using: &numbers)
        let place = packet.lowerBound + Int.random(in: 0..<reach, using: &numbers)
        copy[place] = UInt8.random(in: 0...255, using: &numbers)
      }
      let file = folder.file("copy.mp4")
      try copy.write(to: file)
      let writer = try StoreWriter(
        creating: folder.file("\(round).sqlite").path, durability: .building)
      do {
        let options = ImportOptions(file: file.path)
        _ = try SensorImporting(options: options) { _ in true }.run(
          [], [.init(path: file.path, source: file.path, streams: demuxer.streams)],
          frames: 0...1, into: SampleWriter(writer))
        try writer.close()
        let reader = try StoreReader(opening: folder.file("\(round).sqlite").path)
        #expect(try reader.checkSamples().isEmpty)
      } catch {
        refused += 1
        #expect(
          error.facts.code == "sensor.telemetry" || error.facts.code.hasPrefix("sensor."),
          "round \(round)")
        #expect(error.facts.place?.file == file.path, "round \(round): \(error)")
      }
    }
    #expect(refused > 5 && refused < 60, "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: into))
  }
}
