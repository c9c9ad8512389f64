import Foundation
import RetakeTestClips
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// What an import says about packets without a picture and about times that are counted.
struct TrackNotesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func ffmpeg(_ arguments: [String]) throws {
    let result = try runCommand(
      "ffmpeg", arguments: ["-v", "error", "-nostdin", "-y"] + arguments)
    try #require(result.status == 0, "\(result.stderr)")
  }

  private func make(_ name: String, frames: Int = 60, _ output: String...) throws -> String {
    let file = folder.file(name).path
    try ffmpeg(
      ["-f", "lavfi", "-i", "testsrc2=size=96x64:rate=30", "-frames:v", "\(frames)"] + output
        + [file])
    return file
  }

  private func notes(_ file: String) throws -> [String] {
    try SessionImporter(ImportOptions(file: file, into: folder.file("Recordings").path)).run().notes
  }

  @Test func `packets before the first key frame are counted`() throws {
    let whole = try make(
      "whole.ts", "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "30", "-bf", "0")
    let file = folder.file("middle.ts").path
    try ffmpeg(["-i", whole, "-c", "copy", "-bsf:v", "noise=drop=lt(n\\,20)", file])
    #expect(
      try notes(file).contains("track 0: 10 packets before the first key frame give no picture"))
  }

  @Test func `frames that all have the same time are named`() throws {
    let file = try make("same.mkv", "-c:v", "mpeg4", "-bf", "0", "-bsf:v", "setts=ts=0")
    #expect(
      try notes(file).contains { $0.hasPrefix("track 0: all 60 frames have the same time") })
  }

  @Test func `a rate that neither the stream nor a container names is called a guess`() throws {
    let guessed = try make(
      "guess.hevc", "-c:v", "libx265", "-x265-params", "log-level=none:vui-timing-info=0")
    let result = try SessionImporter(
      ImportOptions(file: guessed, into: folder.file("Recordings").path)
    ).run()
    #expect(
      result.notes.contains { $0.hasPrefix("track 0: 25 a second is a guess: ") },
      "\(result.notes)")
    #expect(result.tracks.first?.isRateAssumed == true)
    let known = try make("known.h264", "-c:v", "libx264", "-pix_fmt", "yuv420p")
    #expect(
      try notes(known)
        == ["track 0: the times are counted by the rate that the stream names, 30 a second"])
  }
}
