import Foundation
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// A recording of a stream without times says where its rate comes from.
struct RateNoteTests {
  /// The notes of a recording of a clip, and the notes that its session keeps.
  private func notes(
    _ name: String, _ output: String...
  ) throws -> (said: [String]?, kept: [String]) {
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
    let result = try recorder.run()
    return (
      result.progress.notes,
      try SessionReader(result.folder, options: ReadOptions()).footageNotes()
    )
  }

  @Test func `a rate of the stream, and one that is a guess`() throws {
    let known = try notes("known.h264", "-c:v", "libx264", "-pix_fmt", "yuv420p")
    #expect(known.said?.count == 1 && known.kept.isEmpty)
    #expect(
      known.said?.first?.hasPrefix(
        "track 0: the times are counted by the rate that the stream names, 30 a second;") == true)
    let guessed = try notes(
      "guess.hevc", "-c:v", "libx265", "-x265-params", "log-level=none:vui-timing-info=0")
    #expect(
      guessed.kept == ["track 0: 25 a second is a guess: the stream has neither times nor a rate"])
    #expect(guessed.said?.count == 1)
    #expect(guessed.said?.first?.hasPrefix(guessed.kept.first ?? "?") == true)
    #expect(guessed.said?.first?.hasSuffix("retake import guess.hevc --times TIMES") == true)
    #expect(try notes("timed.ts", "-c:v", "mpeg2video").said == nil)
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
