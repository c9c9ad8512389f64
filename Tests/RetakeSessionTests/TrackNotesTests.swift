import Foundation
import RetakeTestSupport
import Testing

@testable import RetakeSession

/// Notes of an import about packets without a picture and about times that are counted.
struct TrackNotesTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func ffmpeg(_ arguments: [String]) throws {
    let result = try runFFmpeg(
      arguments: ["-v", "error", "-nostdin", "-y"] + arguments)
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
      try notes(file).contains("track 0: 10 packets before the first key frame decode to no image"))
  }

  @Test(arguments: [("libvpx", "vp8", "a.webm"), ("libvpx-vp9", "vp9", "a.ivf")])
  func `a lost picture of a codec that does not show it leaves a gap in the times, which is named`(
    encoder: String, codec: String, name: String
  ) throws {
    let whole = try make(name, "-c:v", encoder, "-deadline", "realtime", "-cpu-used", "8")
    #expect(try notes(whole) == [])
    let lost = folder.file("lost-" + name).path
    try ffmpeg(["-i", whole, "-c", "copy", "-bsf:v", "noise=drop=eq(n\\,9)+eq(n\\,40)", lost])
    let result = try SessionImporter(
      ImportOptions(file: lost, into: folder.file("Recordings").path)
    ).run()
    #expect(
      result.notes == [
        "track 0: frames may be missing: 1 frame after frame 8, 1 frame after frame 38; "
          + "\(codec) does not show whether an image was lost"
      ])
    // The decodings of VP8 may differ after the gap, which is damage that is known.
    #expect(codec == "vp8" || (result.status == .clean && result.tracks[0].damaged == 0))
  }

  @Test func `a file of variable rate and a codec that shows a loss have no such note`() throws {
    // Every third frame is dropped, then a few after a second: screen recordings look like this.
    for (number, select) in ["mod(n\\,3)", "lt(n\\,30)+not(mod(n\\,4))"].enumerated() {
      let file = try make(
        "variable\(number).webm", "-vf", "select=\(select)", "-fps_mode", "passthrough", "-c:v",
        "libvpx",
        "-deadline", "realtime")
      #expect(try notes(file) == [], "\(select)")
    }
    let whole = try make("whole.mkv", "-c:v", "mpeg4", "-bf", "0", "-g", "1")
    let lost = folder.file("lost.mkv").path
    try ffmpeg(["-i", whole, "-c", "copy", "-bsf:v", "noise=drop=eq(n\\,9)", lost])
    #expect(try notes(lost).allSatisfy { !$0.contains("frames may be missing") })
  }

  /// Intervals in milliseconds: `30x33` are 30 of them.
  @Test(arguments: [
    ("30x33,66,30x33", 1, "30+1"), ("30x40,200,30x40,80,30x40", 40, "30+4 61+1"),
    ("10x33,34,10x33,34,100,20x33", 1, "22+2"), ("30x4,8,60x4", 1, "30+1"),
    ("9x33,66,9x33", 1, ""), ("30x33,50,30x33", 1, ""), ("30x33,66,4x33,66,4x33,66,4x33", 1, ""),
    ("30x33,60x66", 1, ""), ("60x33", 1, ""), ("30x33,10,30x33", 1, ""), ("60x0", 1, ""),
  ])
  func `a gap is a whole number of frames in an otherwise constant rate`(
    intervals: String, tick: Int, expected: String
  ) {
    var times: [Int64] = [0]
    for part in intervals.split(separator: ",") {
      let numbers = part.split(separator: "x").compactMap { Int64($0) }
      for _ in 0..<(numbers.count == 2 ? numbers[0] : 1) {
        times.append((times.last ?? 0) + (numbers.last ?? 0) * 1_000_000)
      }
    }
    let gaps = FrameGaps(count: times.count, tick: Int64(tick) * 1_000_000) { times[$0] }.gaps
    #expect(gaps.map { "\($0.frame)+\($0.missing)" }.joined(separator: " ") == expected)
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
    let kept = ["track 0: 25 a second is a guess: the stream has neither times nor a rate"]
    #expect(try SessionReader(opening: result.folder.path).info().notes == kept)
    _ = try SessionRecovery(result.folder.path, fromMedia: true).run()
    #expect(try SessionReader(opening: result.folder.path).info().notes == kept)
    let known = try make("known.h264", "-c:v", "libx264", "-pix_fmt", "yuv420p")
    #expect(
      try notes(known)
        == [
          "track 0: the times are counted by the rate that the stream names, 30 a second; if they "
            + "are in a file: retake import \(known.shellWord) --times TIMES"
        ])
  }

  @Test(arguments: ["images.mjpeg", "images.bin"])
  func `Motion JPEG without a container is read, and its rate is a guess`(name: String) throws {
    // With JFIF headers, and longer than FFmpeg's first look at a file.
    let file = folder.file(name).path
    try ffmpeg(
      [
        "-f", "lavfi", "-i", "testsrc2=size=320x240:rate=30", "-frames:v", "5", "-c:v", "mjpeg",
        "-q:v", "2", "-f", "mjpeg", file,
      ])
    let result = try SessionImporter(
      ImportOptions(file: file, into: folder.file("Recordings").path)
    ).run()
    #expect(
      result.notes == [
        "track 0: 25 a second is a guess: the stream has neither times nor a rate. If you know the "
          + "rate N: ffmpeg -f mjpeg -framerate N -i \(file.shellWord) -c copy OUT.mkv; if the "
          + "times are in a file: retake import \(file.shellWord) --times TIMES"
      ])
    #expect(result.tracks.first?.isRateAssumed == true && result.status == .clean)
    #expect(try times(result) == (0..<5).map { $0 * 40 })
  }

  /// FFmpeg computes times from the order of decoding, in which MPEG-1 has a gap after its first
  /// picture.
  @Test(
    arguments: [("mpeg1video", "a.m1v"), ("mpeg2video", "a.m2v"), ("libx264", "a.h264")], [0, 2])
  func `a stream without times is counted from zero`(
    codec: (name: String, file: String), reordered: Int
  ) throws {
    let file = folder.file(codec.file).path
    try ffmpeg(
      [
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25", "-frames:v", "25", "-pix_fmt",
        "yuv420p", "-c:v", codec.name, "-bf", "\(reordered)", file,
      ])
    let result = try SessionImporter(
      ImportOptions(file: file, into: folder.file("Recordings").path)
    ).run()
    #expect(try times(result) == (0..<25).map { $0 * 40 })
  }

  private func times(_ result: ImportResult) throws -> [Int64] {
    try SessionReader(opening: result.folder.path).index.store
      .frames(track: 0, from: 0, count: 1_000).map { $0.ptsNanoseconds / 1_000_000 }
  }
}
