import Foundation
import RetakeCore
import RetakeSensors
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// Times of frames in a separate file.
@Suite struct FrameTimesTests {
  private let folder: TemporaryFolder
  private let video: String

  init() throws {
    folder = try TemporaryFolder()
    video = try Clip.elementary.make(in: folder).path
  }

  private func importing(_ times: String, tracks: [Int] = []) throws -> ImportResult {
    try SessionImporter(
      ImportOptions(
        file: video, name: "s", into: folder.file("R").path, tracks: tracks, times: times)
    ).run()
  }

  private func times(_ session: ImportResult) throws -> [Int64] {
    let reader = try SessionReader(opening: session.folder.path)
    let count = try #require(reader.tracks.first).frameCount
    return try reader.entries(of: 0, sequences: 0..<count).map(\.timestamp.nanoseconds)
  }

  private func frameCount() throws -> Int {
    let result = try SessionImporter(
      ImportOptions(file: video, name: "count", into: folder.file("R").path)
    ).run()
    #expect(result.notes.contains { $0.contains("--times TIMES") }, "\(result.notes)")
    return result.tracks[0].frames
  }

  @Test func `a file of mkvmerge's format has milliseconds, one for each frame`() throws {
    let count = try frameCount()
    let wanted = (0..<count).map { Int64($0) * 33_333_000 + ($0 > 3 ? 100_000_000 : 0) }
    let lines = wanted.map { "\($0 / 1_000_000).\(String($0 % 1_000_000 + 1_000_000).dropFirst())" }
    let path = try folder.write(
      "# timecode format v2\n" + lines.joined(separator: "\n") + "\n", to: "video.pts"
    ).path
    let session = try importing(path)
    #expect(try times(session) == wanted)
    #expect(!session.notes.contains { $0.contains("guess") || $0.contains("counted") })
    #expect(session.notes.contains("track 0: the times of the frames are from video.pts"))
    let check = try SessionCheck(path: session.folder.path, decodes: true).run()
    #expect(check.isHealthy, "\(check.findings)")
  }

  @Test func `another number of times is refused with both numbers, and leaves nothing`() throws {
    let count = try frameCount()
    for other in [count - 1, count + 1] {
      let path = try folder.write(
        "t_us\n" + (0..<other).map { "\($0 * 1_000)\n" }.joined(), to: "f.csv"
      ).path
      #expect {
        try importing(path)
      } throws: {
        ($0 as? SessionError)?.message.contains("has \(count) frames") == true
          && "\($0)".contains("\(other) times")
      }
      #expect(!FileManager.default.fileExists(atPath: folder.file("R/s").path))
    }
  }

  @Test func `times since 1970 begin at zero, and the session has their date`() throws {
    let count = try frameCount()
    let path = try folder.write(
      "frame,timestamp_ns\n"
        + (0..<count).map { "\($0),\(1_700_000_000_000_000_000 + $0 * 50_000_000)\n" }.joined(),
      to: "f.csv"
    ).path
    let session = try importing(path)
    #expect(try times(session) == (0..<count).map { Int64($0) * 50_000_000 })
    let info = try SessionReader(opening: session.folder.path).info()
    #expect(info.startedUnixNanoseconds == 1_700_000_000_000_000_000)
  }

  @Test(arguments: [
    ("0\n40\n", "the unit of the times is not stated"),
    ("1,0\n2,40\n", "columns without names"),
    ("# timecode format v1\nassume 30\n", "timestamp format v1"),
    ("# timecode format v2\n0\n40\n39\n", "before the time of the frame before"),
    ("# timecode format v2\n0\nforty\n", "forty"),
    ("# timecode format v2\n", "no times"), ("", "no times"),
    ("[{\"SensorTimestamp\": 1}]", "jq '.[].SensorTimestamp'"),
    ("{\"SensorTimestamp\": 1}\n", "jq '.SensorTimestamp'"),
  ])
  func `times that would be a guess, or are none, are refused`(text: String, cause: String) throws {
    let path = try folder.write(text, to: "video.pts").path
    #expect {
      try FrameTimesFile(parsing: path)
    } throws: {
      $0.facts.message.contains(cause) || $0.facts.cause?.contains(cause) == true
    }
  }

  @Test func `an option names the column and the unit`() throws {
    let path = try folder.write("1;0.5\n2;0.75\n", to: "a.txt").path
    #expect(
      try FrameTimesFile(parsing: path + ":time=2,unit=s").nanoseconds == [
        500_000_000, 750_000_000,
      ])
    #expect(throws: SensorError.self) { try FrameTimesFile(parsing: path + ":time=3,unit=s") }
    #expect(throws: SensorError.self) { try FrameTimesFile(parsing: path + ":kind=x") }
  }

  @Test(arguments: [
    ("DELETE FROM packet WHERE \"index\" > 5", true),
    ("UPDATE frame SET pts_ns = 5 WHERE sequence = 3", false),
  ])
  func `a recovery keeps the times of a damaged index, or names their loss`(
    damage: String, isKept: Bool
  ) throws {
    let count = try frameCount()
    let path = try folder.write(
      "# timecode format v2\n" + (0..<count).map { "\($0 * $0)\n" }.joined(), to: "video.pts"
    ).path
    let session = try importing(path)
    let (wanted, database) = (try times(session), session.folder.path + "/session.sqlite")
    let made = try runSQLite(arguments: [database, damage])
    try #require(made.status == 0, "\(made.stderr)")

    let result = try SessionRecovery(session.folder.path, fromMedia: true).run()

    let notes = try SessionReader(opening: session.folder.path).footageNotes()
    #expect(notes.contains("track 0: the times of the frames are from video.pts") == isKept)
    #expect(try (times(session) == wanted) == isKept)
    #expect(result.status == (isKept ? .clean : .lossy))
    #expect(
      (result.losses?.contains("from video.pts, and only the index had them") ?? false) != isKept)
    #expect(try SessionCheck(path: session.folder.path, decodes: true).run().isHealthy)

    try FileManager.default.removeItem(atPath: database)
    let again = try SessionRecovery(session.folder.path, fromMedia: true).run()
    #expect(again.notes.contains { $0.contains("--times") }, "\(again.notes)")
  }

  @Test func `an unclear unit is an error about times, and not about a sensor`() throws {
    let path = try folder.write("0\n40\n", to: "video.pts").path
    let error = #expect(throws: SensorError.self) { try FrameTimesFile(parsing: path) }
    #expect(error?.facts.message.contains("does not describe the times of the frames") == true)
    #expect(error?.facts.advice?.contains("--times") == true)
    let line = try folder.write("t_ms\n0\nforty\n\"\n", to: "a.csv").path
    let other = #expect(throws: SensorError.self) { try FrameTimesFile(parsing: line) }
    #expect(other?.facts.advice?.contains("columns=") == false)
  }
}
