import Foundation
import RetakeBuffers
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeRecord

/// The notes of a recording of a file about video that the recording does not have.
@Suite struct FootageRemarkTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-remark") }

  private func ffmpeg(_ arguments: [String]) throws {
    let result = try runFFmpeg(arguments: ["-v", "error", "-nostdin", "-y"] + arguments)
    try #require(result.status == 0, "\(result.stderr)")
  }

  private func file(_ name: String) -> String { folder.file(name).path }

  /// Two tracks of a second each.
  private func twoTracks(delay: Double) throws -> String {
    try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=1", "-itsoffset", "\(delay)", "-f",
      "lavfi", "-i", "testsrc=size=96x64:rate=25:duration=1", "-map", "0", "-map", "1", "-pix_fmt",
      "yuv420p", "-c:v", "libx264", "-bf", "0", "-g", "25", "-muxdelay", "0", "-muxpreload", "0",
      file("two\(delay).ts"),
    ])
    return file("two\(delay).ts")
  }

  private func record(
    _ path: String, _ preset: RecordingPreset = .ffv1, tracks: MediaFileSource.Tracks = .first
  ) throws -> RecordingResult {
    var options = RecorderOptions.test(folder, preset: preset)
    options.name = "yard-\(UUID().uuidString.prefix(8))"
    return try Recorder(
      try MediaFileSource(path: path, tracks: tracks), options: options, machine: .still()
    ).run()
  }

  @Test func `video that goes on in another track, and is left out, is named`() throws {
    let path = try twoTracks(delay: 1)
    let notes = try record(path).progress.notes ?? []
    #expect(
      notes == [
        "track 1 begins where track 0 ends (1.0 s): it is the same video on another PID; it is not "
          + "recorded; record it, too: --track all"
      ])
    // With both tracks the recording is complete.
    let both = try record(path, tracks: .all).progress.notes ?? []
    #expect(both.count == 1 && both[0].contains("the same video continues in another track"))
    #expect(try record(twoTracks(delay: 0.1)).progress.notes == nil)
    // The session keeps the sentence.
    let session = try SessionReader(opening: try record(path).folder.path)
    #expect(try session.info().notes == notes)
  }

  @Test func `frames that stand still are named at the end of a recording`() throws {
    try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=4", "-vf",
      "loop=loop=40:size=1:start=20,trim=end_frame=100,setpts=N/25/TB", "-pix_fmt", "yuv420p",
      "-c:v", "ffv1", "-fps_mode", "passthrough", file("stuck.mkv"),
    ])
    let notes = try record(file("stuck.mkv")).progress.notes ?? []
    #expect(notes.count == 1 && notes[0].hasSuffix("are equal (41 frames, 1.6 s)"), "\(notes)")
  }

  @Test func `opacity that an encoder does not get is named`() throws {
    try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=0.4", "-vf", "format=yuva420p",
      "-c:v", "libvpx", "-auto-alt-ref", "0", file("clear.webm"),
    ])
    let notes = try record(file("clear.webm")).progress.notes ?? []
    #expect(
      notes == [
        "stream 0: the frames have opacity, which is not decoded: they are recorded opaque"
      ])
    let copied = try record(file("clear.webm"), .copy).progress.notes ?? []
    #expect(
      copied == [
        "track 0: the frames have opacity, which is not decoded: stages get them opaque"
      ])
  }

  @Test(arguments: [RecordingPreset.ffv1, .copy])
  func `the shape of pixels that changes is recorded as it is`(preset: RecordingPreset) throws {
    let parts = try ["1/1", "4/3"].enumerated().map { second, aspect in
      let name = "aspect\(second).ts"
      try ffmpeg([
        "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=1", "-vf", "setsar=\(aspect)",
        "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0", "-g", "25", "-output_ts_offset",
        "\(second)", "-muxdelay", "0", "-muxpreload", "0", file(name),
      ])
      return try Data(contentsOf: folder.file(name))
    }
    try parts.reduce(Data(), +).write(to: folder.file("aspect.ts"))
    let result = try record(file("aspect.ts"), preset)
    #expect(result.progress.frames.recorded == 50)
    let reader = try SessionReader(
      opening: result.folder.path, options: ReadOptions(verifiesPixels: true))
    for sequence in [40, 10, 25, 24] {
      let frame = try reader.frame(FrameID(track: 0, sequence: sequence))
      #expect(frame.sampleAspect == (sequence < 25 ? .square : SampleAspect(4, 3)))
    }
  }

  @Test func `a stream without a pixel format is refused in whole words`() {
    #expect(
      "\(CopyRefusal.format(""))" == "its first images do not declare a pixel format")
  }

  /// A file with this matrix in its track header, and colors.
  private func turned(_ matrix: [Double]) throws -> String {
    try ffmpeg([
      "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=25:duration=0.2", "-pix_fmt", "yuv420p",
      "-c:v", "libx264", "-bf", "0", "-color_primaries", "bt2020", "-color_trc", "smpte2084",
      file("plain.mp4"),
    ])
    try turnMovie(file("plain.mp4"), matrix: matrix, into: file("turned.mp4"))
    return file("turned.mp4")
  }

  @Test func `a mirrored file is recorded as mirrored`() throws {
    let result = try record(try turned([-1, 0, 0, 1]))
    let reader = try SessionReader(opening: result.folder.path)
    #expect(reader.tracks[0].isMirrored && reader.tracks[0].rotationDegrees == 0)
    #expect(try reader.frame(FrameID(track: 0, sequence: 0)).isMirrored)
  }

  @Test func `a recording whose rows are damaged keeps colors and rotation`() throws {
    let result = try record(try turned([0, -1, 1, 0]))
    let path = result.folder.path
    let before = try SessionReader(opening: path).info().tracks[0]
    #expect(before.rotationDegrees == 270 && before.primaries == "bt2020")
    let made = try runCommand(
      "sqlite3",
      arguments: [path + "/session.sqlite", "UPDATE frame SET pts = 7 WHERE sequence = 3"])
    try #require(made.status == 0, "\(made.stderr)")

    let recovered = try SessionRecovery(path, fromMedia: true).run()
    let after = try SessionReader(opening: path).info().tracks[0]
    #expect(recovered.rebuiltFrames == 5 && recovered.notes.isEmpty)
    #expect(after.rotationDegrees == 270 && after.primaries == "bt2020")
    #expect(after.transfer == "smpte2084")
  }

  @Test func `a recording without its index has the media's colors, and says what it lacks`() throws
  {
    let result = try record(try turned([0, -1, 1, 0]))
    let path = result.folder.path
    try FileManager.default.removeItem(atPath: path + "/session.sqlite")
    let recovered = try SessionRecovery(path, fromMedia: true).run()
    let after = try SessionReader(opening: path).info().tracks[0]
    #expect(after.primaries == "bt2020" && after.transfer == "smpte2084")
    // FFmpeg 6.1 and later store the rotation in Matroska.
    let isSaid = recovered.notes.contains { $0.hasPrefix("the rotation of the images is not") }
    #expect(isSaid == (after.rotationDegrees == 0))
  }
}
