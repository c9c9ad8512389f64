import Foundation
import RetakeStore
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// The sound of an imported file, which becomes a sensor.
@Suite struct SoundImportTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// A clip of two seconds whose sound is a tone of 100 Hz from 0.5 to 1 s.
  private func clip(_ name: String, _ codec: String...) throws -> String {
    let path = folder.file(name).path
    let sound = "aevalsrc='0.5*sin(200*PI*t)*between(t,0.5,0.9999)':s=48000:d=2:c=stereo"
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-y", "-f", "lavfi", "-i", "testsrc2=size=64x48:rate=25:d=2",
        "-f", "lavfi", "-i", sound, "-shortest", "-c:v", "mpeg4",
      ] + codec + [path])
    try #require(made.status == 0, "\(made.stderr)")
    return path
  }

  private func importing(_ path: String, hasSound: Bool = true) throws -> ImportResult {
    try SessionImporter(
      ImportOptions(file: path, into: folder.file("R").path, hasSound: hasSound)
    ).run()
  }

  private func samples(_ path: String) throws -> [SampleRecord] {
    let reader = try SessionReader(opening: path)
    let sensor = try #require(reader.sensors.first { $0.name == "sound" })
    #expect(sensor.channels == ["least", "greatest", "rms"] && sensor.kind == "sound")
    return try reader.index.store.samples(sensor: sensor.number, from: 0, count: 1_000)
  }

  @Test(arguments: [
    ["clip.mov", "-c:a", "pcm_s16le"], ["clip.mp4", "-c:a", "aac"], ["clip.mkv", "-c:a", "flac"],
    ["clip.mp4", "-c:a", "libmp3lame"], ["clip.mkv", "-c:a", "libopus"],
    ["clip.mkv", "-c:a", "ac3"],
    ["clip.mov", "-c:a", "pcm_f32le"], ["clip.mov", "-c:a", "pcm_u8"],
  ])
  func `the waveform has the tone at its time`(form: [String]) throws {
    let path = try clip(form[0], form[1], form[2])
    let result = try importing(path)
    #expect(result.notes.isEmpty, "\(result.notes)")
    let rows = try samples(result.folder.path)
    #expect((195...206).contains(rows.count), "\(rows.count)")
    for row in rows {
      #expect(row.arrivalNanoseconds == row.timeNanoseconds)
      let end = Double(row.timeNanoseconds) / 1e9
      // A lossy codec smears the ends of the tone.
      if end < 0.47 || end > 1.06 { #expect(row.numbers[2] < 0.02, "\(end)") }
      if end > 0.55, end < 0.97 {
        #expect(abs(row.numbers[2] - 0.3536) < 0.03, "\(end) \(row.numbers)")
        #expect(abs(row.numbers[0] + 0.5) < 0.06 && abs(row.numbers[1] - 0.5) < 0.06, "\(end)")
      }
    }
    #expect(try SessionCheck(path: result.folder.path).run().isHealthy)
  }

  @Test func `without sound no sensor is made, and a note names the stream`() throws {
    let result = try importing(try clip("clip.mp4", "-c:a", "aac"), hasSound: false)
    #expect(result.sensors.isEmpty)
    #expect(result.notes == ["stream 1 (audio, aac) is kept in the file, not indexed"])
  }

  @Test func `an index that is made again has the same sound, and one without sound stays so`()
    throws
  {
    for hasSound in [true, false] {
      let path = try importing(
        try clip("\(hasSound).mp4", "-c:a", "aac"), hasSound: hasSound
      ).folder.path
      let digest = try SessionReader(opening: path).sessionDigest()
      let cut = try runSQLite(
        arguments: [path + "/session.sqlite", "DELETE FROM packet WHERE \"index\" > 5"])
      try #require(cut.status == 0)
      _ = try SessionRecovery(path, fromMedia: true).run()
      #expect(try SessionReader(opening: path).sessionDigest() == digest)
      guard hasSound else { continue }
      try FileManager.default.removeItem(atPath: path + "/session.sqlite")
      _ = try SessionRecovery(path, fromMedia: true).run()
      #expect(try SessionReader(opening: path).sessionDigest() == digest)
    }
  }

  @Test func `sound that no decoder takes leaves the frames, and a note`() throws {
    let path = try clip("clip.mov", "-c:a", "pcm_s16le")
    var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    // The four characters of the codec in the description of the sample.
    let place = try #require(bytes.range(of: Data("sowt".utf8)))
    bytes.replaceSubrange(place, with: Data("zzzz".utf8))
    try bytes.write(to: URL(fileURLWithPath: path))
    let result = try importing(path)
    #expect(result.sensors.isEmpty && result.tracks.map(\.frames) == [50])
    #expect(result.notes.contains { $0.contains("is not imported: ") }, "\(result.notes)")
  }
}
