import Foundation
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// A recording of a stream without times says where its rate comes from.
struct RateNoteTests {
  private func notes(_ name: String, _ output: String...) throws -> [String]? {
    let folder = try TemporaryFolder()
    let file = folder.file(name).path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30",
        "-frames:v", "10",
      ] + output + [file])
    try #require(made.status == 0, "\(made.stderr)")
    let recorder = try Recorder(
      try MediaFileSource(path: file), options: .test(folder), machine: .still())
    return try recorder.run().progress.notes
  }

  @Test func `a rate of the stream, and one that is a guess`() throws {
    let known = try notes("known.h264", "-c:v", "libx264", "-pix_fmt", "yuv420p")
    #expect(known?.count == 1)
    #expect(
      known?.first?.hasPrefix(
        "track 0: the times are counted by the rate that the stream names, 30 a second;") == true)
    let guessed = try notes(
      "guess.hevc", "-c:v", "libx265", "-x265-params", "log-level=none:vui-timing-info=0")
    #expect(guessed?.first?.hasPrefix("track 0: 25 a second is a guess: ") == true)
    #expect(guessed?.first?.hasSuffix("retake import guess.hevc --times TIMES") == true)
    #expect(try notes("timed.ts", "-c:v", "mpeg2video") == nil)
  }

  @Test(arguments: [RecordingPreset.ffv1, .mpeg4])
  func `a recording of interlaced footage says it, whatever its codec is`(preset: RecordingPreset)
    throws
  {
    let folder = try TemporaryFolder()
    let file = folder.file("fields.ts").path
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=50:duration=1",
        "-vf", "tinterlace=interleave_bottom", "-c:v", "mpeg2video", "-flags", "+ildct+ilme",
        "-top", "0", file,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    let result = try Recorder(
      try MediaFileSource(path: file), options: .test(folder, preset: preset), machine: .still()
    ).run()
    let wanted = "track 0: the frames are interlaced (bottom field first): add a node deinterlace"
    #expect(result.progress.notes?.contains(wanted) == true)
    #expect(try SessionReader(result.folder, options: ReadOptions()).footageNotes() == [wanted])
  }
}
