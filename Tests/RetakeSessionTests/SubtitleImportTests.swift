import Foundation
import RetakeCore
import RetakeStore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// A drone's measurements, as subtitles next to its video or inside it.
@Suite struct SubtitleImportTests {
  private static let frames = 90

  /// An entry for each frame at 30000/1001 frames a second.
  private static let telemetry = (0..<frames).map { number in
    let (start, end) = (milliseconds(number), milliseconds(number + 1))
    return "\(number + 1)\n\(stamp(start)) --> \(stamp(end))\n"
      + "<font size=\"28\">FrameCnt: \(number + 1), DiffTime: \(end - start)ms\n"
      + "[iso: \(100 + number / 30 * 100)] [shutter: 1/640.0] [color_md: default] "
      + "[latitude: 55.\(600_000 + number)] [rel_alt: 20.\(100 + number) abs_alt: 51.2] </font>\n\n"
  }.joined()

  private static let speech = (0..<5).map { number in
    "\(number + 1)\n\(stamp(number * 500)) --> \(stamp(number * 500 + 400))\nWell, \(number).\n\n"
  }.joined()

  private static func milliseconds(_ frame: Int) -> Int { (frame * 1_001 + 15) / 30 }

  private static func stamp(_ milliseconds: Int) -> String {
    let rest = String(1_000 + milliseconds % 1_000).dropFirst()
    return "00:00:0\(milliseconds / 1_000),\(rest)"
  }

  private func video(in folder: TemporaryFolder, name: String = "DJI_0001.MP4") throws -> URL {
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=30000/1001",
        "-frames:v", "\(Self.frames)", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-g", "30",
        "-threads", "1", "-f", "mp4", folder.file(name).path,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    return folder.file(name)
  }

  /// The video with a text track.
  private func video(
    with text: String, as name: String, codec: String, in folder: TemporaryFolder
  ) throws -> URL {
    let subtitles = try folder.write(text, to: "inside.srt")
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-i", try video(in: folder, name: "plain.MP4").path, "-i", subtitles.path,
        "-map", "0:v", "-map", "1", "-c:v", "copy", "-c:s", codec, folder.file(name).path,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    return folder.file(name)
  }

  private func imported(
    _ file: URL, as name: String = "one", in folder: TemporaryFolder, sensors: [String] = [],
    hasTelemetry: Bool = true
  ) throws -> ImportResult {
    try SessionImporter(
      ImportOptions(
        file: file.path, name: name, into: folder.file("R").path, sensors: sensors,
        hasTelemetry: hasTelemetry)
    ).run()
  }

  private func checkTelemetry(_ result: ImportResult) throws {
    let sensor = try #require(result.sensors.first)
    #expect(result.sensors.count == 1 && sensor.name == "telemetry")
    #expect(
      sensor.channels == [
        "framecnt", "difftime", "iso", "shutter", "latitude", "rel_alt", "abs_alt",
      ])
    #expect(sensor.unit == "1,ms,1,s,°,m,m" && sensor.sampleCount == Self.frames)
    let store = try SessionReader(opening: result.folder.path).index.store
    let rows = try store.samples(sensor: sensor.number, from: 0, count: 999)
    for (number, row) in rows.enumerated() {
      #expect(row.timeNanoseconds == Int64(Self.milliseconds(number)) * 1_000_000)
      #expect(
        row.numbers == [
          Double(number + 1), Double(Self.milliseconds(number + 1) - Self.milliseconds(number)),
          Double(100 + number / 30 * 100), 0.0015625,
          try #require(Double("55.\(600_000 + number)")),
          try #require(Double("20.\(100 + number)")), 51.2,
        ])
    }
    #expect(result.notes.contains { $0.contains("left out: color_md") }, "\(result.notes)")
    #expect(!result.notes.contains { $0.contains("not indexed") }, "\(result.notes)")
    #expect(try SessionCheck(path: result.folder.path).run().isHealthy)
  }

  @Test func `a file next to the video is imported when it is asked for, and noted otherwise`()
    throws
  {
    let folder = try TemporaryFolder()
    let file = try video(in: folder)
    let log = try folder.write(Self.telemetry, to: "DJI_0001.SRT")
    try checkTelemetry(try imported(file, in: folder, sensors: [log.path]))

    let other = try imported(file, as: "two", in: folder)
    #expect(other.sensors.isEmpty)
    #expect(
      other.notes == [
        "\(log.path) has telemetry of this video, which was not imported: retake import "
          + "\(file.path) --sensor \(log.path) --name DJI_0001-telemetry"
      ])
    #expect(try imported(file, as: "three", in: folder, hasTelemetry: false).notes.isEmpty)
    try FileManager.default.moveItem(at: log, to: folder.file("DJI_0001.srt"))
    #expect(try imported(file, as: "four", in: folder).notes.count == 1)
    try folder.write(Self.speech, to: "DJI_0001.srt")
    #expect(try imported(file, as: "five", in: folder).notes.isEmpty)
  }

  @Test(arguments: [("a.MP4", "mov_text"), ("a.mkv", "subrip")])
  func `a text track with measurements is telemetry`(name: String, codec: String) throws {
    let folder = try TemporaryFolder()
    let file = try video(with: Self.telemetry, as: name, codec: codec, in: folder)
    let result = try imported(file, in: folder)
    try checkTelemetry(result)
    #expect(try imported(file, as: "two", in: folder, hasTelemetry: false).sensors.isEmpty)

    // Without its index, the media has them.
    let digest = try SessionReader(opening: result.folder.path).sessionDigest()
    try FileManager.default.removeItem(atPath: result.folder.path + "/session.sqlite")
    _ = try SessionRecovery(result.folder.path, fromMedia: true).run()
    #expect(try SessionReader(opening: result.folder.path).sessionDigest() == digest)
  }

  @Test func `speech is not telemetry, and not an error as a track`() throws {
    let folder = try TemporaryFolder()
    let file = try video(with: Self.speech, as: "a.MP4", codec: "mov_text", in: folder)
    let result = try imported(file, in: folder)
    #expect(result.sensors.isEmpty)
    #expect(result.notes == ["stream 1 (subtitle, mov_text) is kept in the file, not indexed"])
    let log = try folder.write(Self.speech, to: "speech.srt")
    #expect(
      code { try imported(file, as: "two", in: folder, sensors: [log.path]) } == "sensor.subtitles")
  }

  @Test func `a damaged text track names its packet`() throws {
    let folder = try TemporaryFolder()
    let file = try video(
      with: Self.telemetry.replacing("iso: 300", with: "iso: 3OO", maxReplacements: 1),
      as: "a.MP4", codec: "mov_text", in: folder)
    do {
      _ = try imported(file, in: folder)
      Issue.record("a session was made")
    } catch {
      let facts = try #require((error as? any RetakeError)?.facts)
      #expect(facts.code == "sensor.telemetry")
      #expect(facts.message.hasPrefix("packet 60 of the telemetry, byte "), "\(facts.message)")
      #expect(facts.message.contains("'3OO' is not a number; it is the iso"), "\(facts.message)")
      #expect(facts.advice?.contains("--no-telemetry") == true)
    }
  }

  /// 60 copies of a file, each changed in a few places: the samples that its entries have, or a
  /// typed error with a line.
  @Test func `no file of subtitles ends the process or leaves half a session`() throws {
    let folder = try TemporaryFolder()
    let file = try video(in: folder)
    let into = folder.file("R").path
    var numbers = SeededGenerator(seed: 11)
    var (made, refused) = (0, 0)
    for round in 0..<60 {
      let log = folder.file("copy.srt")
      try Self.changed(Array(Self.telemetry.utf8), &numbers).write(to: log)
      do {
        let result = try imported(file, in: folder, sensors: [log.path])
        made += 1
        let store = try SessionReader(opening: result.folder.path).index.store
        #expect(try store.checkSamples().isEmpty, "round \(round)")
        #expect(result.sensors[0].sampleCount <= Self.frames + 1, "round \(round)")
        try FileManager.default.removeItem(atPath: result.folder.path)
      } catch {
        refused += 1
        let facts = try #require((error as? any RetakeError)?.facts)
        #expect(facts.code.hasPrefix("sensor."), "round \(round): \(error)")
        #expect(facts.place?.file != nil, "round \(round): \(error)")
        #expect(facts.message.contains("line ") || facts.code == "sensor.empty", "\(facts.message)")
        let left = try? FileManager.default.contentsOfDirectory(atPath: into)
        #expect(left?.isEmpty ?? true, "round \(round)")
      }
    }
    #expect(made + refused == 60 && made > 5 && refused > 20, "\(made) made, \(refused) refused")
  }

  private static func changed(_ bytes: [UInt8], _ numbers: inout SeededGenerator) -> Data {
    var bytes = bytes
    for _ in 0...Int.random(in: 0..<2, using: &numbers) where !bytes.isEmpty {
      let place = Int.random(in: 0..<bytes.count, using: &numbers)
      switch Int.random(in: 0..<5, using: &numbers) {
      case 0: bytes[place] = UInt8.random(in: 0...255, using: &numbers)
      case 1: bytes.removeSubrange(place...)
      case 2: bytes.removeSubrange(place..<min(bytes.count, place + 30))
      case 3: bytes.insert(contentsOf: Array("-->[:".utf8), at: place)
      default: bytes.insert(contentsOf: bytes.suffix(90), at: place)
      }
    }
    return Data(bytes)
  }
}
