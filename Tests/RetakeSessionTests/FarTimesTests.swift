import Foundation
import RetakeCore
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// Times that are farther from 0 than a session's times can be.
struct FarTimesTests {
  private let folder: TemporaryFolder
  private let into: String

  init() throws {
    folder = try TemporaryFolder()
    into = folder.file("Recordings").path
  }

  private func make(_ name: String, _ output: String...) throws -> String {
    let file = folder.file(name).path
    let inputs = [
      "-f", "lavfi", "-i", "sine=frequency=440:duration=1", "-f", "lavfi", "-i",
      "testsrc2=size=96x64:rate=25:duration=1",
    ]
    let result = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin", "-y"] + inputs
        + ["-c:v", "mpeg4", "-bf", "0", "-c:a", "pcm_s16le"] + output + [file])
    try #require(result.status == 0, "\(result.stderr)")
    return file
  }

  @Test(arguments: ["4000000000", "9000000000"])
  func `times beyond a session's are moved to 0 with a note, and the session reads`(
    offset: String
  ) throws {
    let file = try make("far.mkv", "-output_ts_offset", offset)
    let result = try SessionImporter(ImportOptions(file: file, into: into)).run()

    #expect(result.notes.contains { $0.hasPrefix("the file's times begin at ") }, "\(result.notes)")
    let reader = try SessionReader(opening: result.folder.path)
    let info = try reader.info()
    #expect(
      info.tracks.first?.frames == 25 && info.tracks.first?.durationNanoseconds == 960_000_000)
    let first = try #require(try reader.entries(of: info.tracks[0].track, sequences: 0..<1).first)
    #expect((0..<100_000_000).contains(first.timestamp.nanoseconds))
  }

  @Test func `times of the calendar are kept as they are`() throws {
    let file = try make("now.mkv", "-output_ts_offset", "1700000000")
    let result = try SessionImporter(ImportOptions(file: file, into: into)).run()
    #expect(!result.notes.contains { $0.contains("times begin") }, "\(result.notes)")
  }

  @Test func `times that are too far apart are refused, and nothing is left`() throws {
    let file = try make(
      "apart.mkv", "-an", "-bsf:v", "setts=ts=if(gte(N\\,12)\\,PTS*6250000000\\,PTS)")
    let error = #expect(throws: SessionError.self) {
      try SessionImporter(ImportOptions(file: file, into: into)).run()
    }
    #expect(error?.code == "session.import.times", "\(String(describing: error))")
    #expect(error?.place?.file == file && error?.place?.frame?.sequence == 12)
    #expect((try? FileManager.default.subpathsOfDirectory(atPath: into)) ?? [] == [])
  }
}
