import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeMedia

/// Files of other kinds than video: each error has the kind, and the command that helps.
@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"))
struct ForeignFileTests {
  private func openError(_ file: String) throws -> MediaError? {
    do {
      let demuxer = try MediaDemuxer(path: file)
      _ = try MediaDecoder(stream: try demuxer.videoStream(), file: file)
      return nil
    } catch {
      return error as? MediaError
    }
  }

  private func check(
    _ bytes: Data, as name: String, _ code: String, says words: String, advises command: String,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let file = try Clips.root.file("\(UUID().uuidString)-\(name)")
    try bytes.write(to: file)
    let error = try #require(try openError(file.path), "\(name)", sourceLocation: sourceLocation)
    #expect(error.code == code, "\(name): \(error)", sourceLocation: sourceLocation)
    #expect(error.message.contains(words), "\(name): \(error)", sourceLocation: sourceLocation)
    #expect(
      error.advice?.contains(command.replacing("FILE", with: file.path)) == true,
      "\(name): \(error.advice ?? "")", sourceLocation: sourceLocation)
  }

  /// A raw stream, in which FFmpeg finds H.264 after any other bytes.
  private func stream() throws -> Data {
    let file = try Clips.make(
      "raw.h264", Clips.picture("96x64") + ["-c:v", "libx264", "-pix_fmt", "yuv420p"])
    return try Data(contentsOf: URL(filePath: file))
  }

  @Test func `archives, compressed files and bags with video inside are refused by name`() throws {
    let stream = try stream()
    let tar = Data(count: 257) + Data("ustar\u{0}00".utf8) + Data(count: 248) + stream
    let cases: [(name: String, head: Data, words: String, command: String)] = [
      (
        "robot.bag", Data("#ROSBAG V2.0\n".utf8), "a bag of ROS 1",
        "rosbags-convert --src FILE --dst BAG"
      ),
      ("a.tar", tar, "an archive (tar)", "tar -xf FILE"),
      ("a.zip", Data([0x50, 0x4B, 3, 4]), "an archive (ZIP)", "unzip FILE"),
      ("a.mp4", Data([0x1F, 0x8B, 8, 0]), "compressed with gzip", "gunzip -c FILE > OUT"),
      ("a.tar.gz", Data([0x1F, 0x8B, 8, 0]), "compressed with gzip", "tar -xf FILE"),
      ("a.zst", Data([0x28, 0xB5, 0x2F, 0xFD]), "compressed with zstd", "zstd -d -c FILE > OUT"),
      ("a.7z", Data("7z".utf8) + Data([0xBC, 0xAF, 0x27, 0x1C]), "(7z)", "7z x FILE"),
      (
        "a.mp4", Data("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n".utf8),
        "a pointer of Git LFS", "git lfs pull"
      ),
    ]
    for item in cases {
      let bytes = item.command == "git lfs pull" ? item.head : item.head + stream
      try check(
        bytes, as: item.name, "media.open.foreign", says: item.words, advises: item.command)
    }
  }

  @Test func `a raw stream somewhere behind other bytes is refused, and one that was cut is not`()
    throws
  {
    let stream = try stream()
    let log = Data("2026-01-01 camera 3: begins\n".utf8) + stream
    try check(
      log, as: "camera.log", "media.open.foreign", says: "h264 after other bytes",
      advises: "mv FILE FILE.h264")
    let part = try Clips.root.file("part.h264")
    try stream.dropFirst(100).write(to: part)
    #expect(try openError(part.path) == nil)
    let zeros = try Clips.root.file("zeros.bin")
    try (Data(count: 4) + stream).write(to: zeros)
    #expect(try openError(zeros.path) == nil)
  }

  @Test func `segments of a stream say that they belong together`() throws {
    let file = try Clips.make(
      "whole.mp4",
      Clips.picture("96x64") + [
        "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "10", "-movflags",
        "frag_keyframe+empty_moov+default_base_moof",
      ])
    let bytes = try Data(contentsOf: URL(filePath: file))
    let first = try #require(bytes.range(of: Data("moof".utf8))).lowerBound - 4
    try check(
      bytes.dropFirst(first), as: "1.m4s", "media.open.segment", says: "without its initialization",
      advises: "cat INIT.mp4 FILE > OUT.mp4")
    try check(
      bytes.prefix(first), as: "init.mp4", "media.open.initialization", says: "which has no frames",
      advises: "cat FILE SEGMENT*.m4s > OUT.mp4")
  }

  /// Made by ffmpeg's encoder and muxer of these names.
  @Test(
    arguments: [
      ("a.dv", "720x576", ["-pix_fmt", "yuv420p"], "ffmpeg -f dv -i FILE -c copy"),
      ("a.gxf", "720x576", ["-c:v", "mpeg2video", "-pix_fmt", "yuv420p"], "ffmpeg -i FILE"),
      ("a.rm", "96x64", ["-c:v", "rv20"], "ffmpeg -i FILE -fps_mode passthrough -c:v ffv1"),
      ("a.swf", "96x64", ["-c:v", "flv"], "ffmpeg -i FILE"),
      ("a.wtv", "96x64", ["-c:v", "mpeg2video"], "ffmpeg -f wtv -i FILE -c copy"),
      ("a.h261", "352x288", [], "ffmpeg -f h261 -framerate 25 -i FILE"),
      ("a.h263", "352x288", ["-c:v", "h263"], "ffmpeg -f h263 -framerate 25 -i FILE"),
      ("a.drc", "96x64", ["-c:v", "vc2"], "ffmpeg -f dirac -framerate 25 -i FILE"),
      ("a.cpk", "96x64", ["-c:v", "cinepak", "-f", "film_cpk"], "ffmpeg -f film_cpk -i FILE"),
      (
        "a.yuv", "96x64", ["-f", "rawvideo"], "ffmpeg -f rawvideo -pix_fmt yuv420p -s WIDTHxHEIGHT"
      ),
      ("a.webp", "96x64", ["-frames:v", "1"], "ffmpeg -i FILE -c:v ffv1"),
      (
        "a.mp4", "256x144",
        ["-c:v", "dnxhd", "-profile:v", "dnxhr_sq", "-pix_fmt", "yuv422p", "-f", "dnxhd"],
        "ffmpeg -f dnxhd"
      ),
    ] as [(String, String, [String], String)])
  func `a format that is not opened comes with the command that converts it`(
    name: String, size: String, output: [String], command: String
  ) throws {
    let file = try Clips.make(name, Clips.picture(size, frames: 10) + output)
    let bytes = try Data(contentsOf: URL(filePath: file))
    try check(
      bytes, as: name, "media.open.container", says: "are not opened", advises: command)
  }

  @Test func `captions that are called a video are no media`() throws {
    try check(
      Data("1\n00:00:01,000 --> 00:00:02,000\nHello\n\n".utf8), as: "captions.mp4",
      "media.open.notMedia", says: "not a media file", advises: "Name a video file")
  }

  @Test func `video of a shop is called protected`() {
    var stream = MediaStream(
      video: "none", width: 8, height: 8, pixelFormatName: "yuv420p", range: .limited,
      matrix: .bt601, timeBase: TimeBase(1, 25))
    stream.codecTag = Array("drmi".utf8).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    #expect(errorCode { _ = try MediaDecoder(stream: stream) } == "media.decode.protected")
  }

  // MARK: AVIF

  /// The boxes of an AVIF image up to its places, whose numbers have these sizes.
  private func image(offsetBytes: UInt8, kind: String) -> Data {
    func box(_ name: String, _ content: Data) -> Data {
      let size = UInt32(content.count + 8)
      return Data((0..<4).map { UInt8(truncatingIfNeeded: size >> (24 - 8 * $0)) })
        + Data(name.utf8) + content
    }
    let entry = box("infe", Data([2, 0, 0, 0, 0, 1, 0, 0]) + Data(kind.utf8) + Data([0]))
    let meta =
      Data(count: 4) + box("pitm", Data([0, 0, 0, 0, 0, 1]))
      + box("iinf", Data([0, 0, 0, 0, 0, 1]) + entry)
      + box("iloc", Data([0, 0, 0, 0, offsetBytes << 4 | 4, 0x40, 0, 0]))
    return box("ftyp", Data("avif".utf8) + Data(count: 4) + Data("avifmif1".utf8))
      + box("meta", meta) + box("mdat", Data(count: 200))
  }

  @Test func `an AVIF image that FFmpeg cannot read is called a still image each time`() throws {
    for _ in 0..<4 {
      try check(
        image(offsetBytes: 0, kind: "av01"), as: "cavif.avif", "media.open.stillImage",
        says: "a still image (AVIF)", advises: "heif-convert FILE")
    }
    try check(
      image(offsetBytes: 4, kind: "grid"), as: "grid.avif", "media.open.stillImage",
      says: "a still image (AVIF)", advises: "heif-convert FILE")
    let file = try Clips.root.file("plain.avif")
    try image(offsetBytes: 4, kind: "av01").write(to: file)
    #expect(try MovieBoxes.isUnreadableImage(MediaFile(path: file.path)) == false)
  }

  // MARK: Folders

  private func folder(_ files: [String]) throws -> MediaFolder? {
    let folder = try TemporaryFolder()
    for file in files {
      try folder.write(file.hasSuffix(".bag") ? "#ROSBAG V2.0\n" : "x", to: file)
    }
    return MediaFolder(folder.url.path)
  }

  @Test func `a folder says what it contains and which command reads it`() throws {
    let session = try #require(try folder(["session.sqlite", "media.mkv"]))
    #expect(session.kind == "a session already")
    #expect(session.remedy.hasPrefix("Use it as it is: retake replay /"))
    let images = try #require(try folder(["frame_0001.png", "frame_0002.png"]))
    #expect(images.kind == "a folder of 2 images")
    #expect(images.remedy.contains("-pattern_type glob -i ") && images.remedy.contains("/*.png"))
    #expect(images.remedy.hasSuffix("source images"))
    let euroc = try folder(["mav0/cam0/data/1403636579763555584.png", "mav0/cam0/data.csv"])
    #expect(euroc?.kind.hasPrefix("a recording in the form of EuRoC: a folder of 1 image") == true)
    let tum = try folder(["rgb/1.1.png", "rgb.txt"])
    #expect(tum?.kind.hasPrefix("a recording in the form of TUM: ") == true)
    let bag = try folder(["run.bag", "notes.txt"])
    #expect(bag?.kind == "a folder with a bag of ROS 1, run.bag")
    #expect(bag?.remedy.contains("rosbags-convert --src ") == true)
    #expect(try folder(["b.mp4", "a.mkv"])?.remedy.hasSuffix("/*.mkv") == true)
    #expect(try folder(["notes.txt"]) == nil)
  }
}
