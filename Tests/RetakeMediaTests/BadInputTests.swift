import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeMedia

@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"))
struct BadInputTests {
  /// Opens the first video track as an import would; returns the error.
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
    _ file: String, code: String, most: Int = 160,
    sourceLocation: SourceLocation = #_sourceLocation
  )
    throws
  {
    let error = try #require(try openError(file), sourceLocation: sourceLocation)
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    #expect(error.place?.file == file, sourceLocation: sourceLocation)
    #expect(error.advice != nil, sourceLocation: sourceLocation)
    let description = error.description.replacing(file, with: "FILE")
    #expect(description.count < most, "\(description)", sourceLocation: sourceLocation)
  }

  @Test func `a file that is not there`() throws {
    try check(try Clips.root.file("nothing.mp4").path, code: "media.open.missing")
  }

  @Test func `a folder`() throws {
    // It has images and videos, so the command that reads them is named.
    try check(try Clips.root.url.path, code: "media.open.directory", most: 400)
  }

  @Test func `a device`() throws {
    try check("/dev/null", code: "media.open.special")
  }

  @Test func `an empty file`() throws {
    try check(try Clips.root.write("", to: "empty.mp4").path, code: "media.open.empty")
  }

  @Test(arguments: ["notes.txt", "notes.mp4", "notes.mkv", "notes"])
  func `a text file, whatever it is called`(name: String) throws {
    let text = String(repeating: "the camera was on the left side of the yard\n", count: 40)
    try check(try Clips.root.write(text, to: "text/\(name)").path, code: "media.open.notMedia")
  }

  @Test func `random bytes`() throws {
    let file = try Clips.root.file("random.mp4")
    var state: UInt32 = 7
    let bytes = (0..<5000).map { _ -> UInt8 in
      state = state &* 1_664_525 &+ 1_013_904_223
      return UInt8(state >> 24)
    }
    try Data(bytes).write(to: file)
    try check(file.path, code: "media.open.notMedia")
  }

  static let playlists = [
    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\nsecret.ts\n#EXT-X-ENDLIST\n",
    "#EXTM3U\nother.mp4\n", "ffconcat version 1.0\nfile other.mp4\n",
    "<?xml version=\"1.0\"?>\n<MPD xmlns=\"urn:mpeg:dash:schema:mpd:2011\"></MPD>\n",
    "v=0\no=- 0 0 IN IP4 127.0.0.1\ns=x\nc=IN IP4 127.0.0.1\nm=video 5004 RTP/AVP 96\n",
  ]

  @Test(arguments: playlists)
  func `a playlist renamed to a video file`(text: String) throws {
    let name = "playlist-\(UUID().uuidString).mkv"
    try check(try Clips.root.write(text, to: name).path, code: "media.open.playlist")
  }

  @Test func `a picture is a container that is not opened`() throws {
    let file = try Clips.make("picture.png", Clips.picture("32x32", frames: 1))
    try check(file, code: "media.open.container")
    #expect(try openError(file)?.message == "still images (PNG) are not opened")
  }

  @Test func `still images are named as users know them, and not by FFmpeg's demuxer`() {
    let names = [("image2", "a.jpg"), ("jpeg_pipe", "a"), ("webp_pipe", "a"), ("bmp_pipe", "a.x")]
      .map { ContainerAdvice.name(format: $0.0, file: $0.1) }
    #expect(names == ["JPEG", "JPEG", "WebP", "BMP"].map { "still images (\($0))" })
    #expect(ContainerAdvice.name(format: "dv", file: "a.dv") == "files of format dv")
  }

  @Test func `a photograph, also one with a second one behind it, is no video`() throws {
    let one = try Clips.make(
      "image.jpg", Clips.picture("320x240", frames: 1) + ["-c:v", "mjpeg"])
    let bytes = try Data(contentsOf: URL(filePath: one))
    let two = try Clips.root.file("two.jpg")
    try (bytes + bytes).write(to: two)
    for file in [one, two.path] {
      #expect(try openError(file)?.message == "still images (JPEG) are not opened")
    }
  }

  @Test func `a packet that the decoder refuses comes with the next step`() {
    let error = MediaError.decode(packet: 0, file: "/clips/a b.ts", cause: "invalid")
    #expect(
      error.advice?.hasPrefix("See why: ffmpeg -v error -i '/clips/a b.ts' -f null -") == true)
  }

  @Test func `an MP4 that was cut off before its index`() throws {
    let whole = try Clips.make("whole.mp4", Clips.picture("96x64") + ["-c:v", "libx264"])
    let file = try Clips.root.file("cut.mp4")
    try Data(contentsOf: URL(filePath: whole)).prefix(4000).write(to: file)
    try check(file.path, code: "media.open.noIndex")
    #expect(
      try openError(file.path)?.cause == "Invalid data found when processing input")
    #expect(
      try openError(file.path)?.advice?.hasSuffix(": untrunc INTACT.mp4 \(file.path)") == true)
  }

  /// The error of opening the first video stream.
  private func videoError(_ bytes: Data, name: String) throws -> ErrorFacts? {
    let file = try Clips.root.file(name)
    try bytes.write(to: file)
    let error = #expect(throws: (any Error).self) {
      _ = try MediaDemuxer(path: file.path).videoStream()
    }
    #expect(error?.facts.advice?.hasSuffix(": untrunc INTACT.mp4 \(file.path)") == true)
    return error?.facts
  }

  /// FFmpeg finds no stream, or a stream without a codec, or refuses the file.
  @Test(arguments: ["mvhd", "vmhd", "stsd"])
  func `an MP4 that was cut off within its index`(box: String) throws {
    let path = try Clips.make("index.mp4", Clips.picture("96x64") + ["-c:v", "libx264"])
    let bytes = try Data(contentsOf: URL(filePath: path))
    let end = try #require(bytes.range(of: Data(box.utf8))).upperBound
    let error = try videoError(bytes.prefix(end), name: "index-\(box).mp4")
    #expect(error?.code == "media.open.damagedIndex")
    #expect(error?.message == "the file was cut short in its index")
    #expect(error?.cause == "\(bytes.count - end) bytes are missing")
  }

  @Test func `an MP4 with other bytes before its index`() throws {
    let path = try Clips.make("index.mp4", Clips.picture("96x64") + ["-c:v", "libx264"])
    var bytes = try Data(contentsOf: URL(filePath: path))
    let index = try #require(bytes.range(of: Data("moov".utf8))).lowerBound - 4
    bytes.insert(contentsOf: Data(repeating: 0xA5, count: 2000), at: index)
    let error = try videoError(bytes, name: "inserted.mp4")
    #expect(error?.code == "media.open.damagedIndex")
    #expect(error?.message == "the file is damaged: its index cannot be found")
    #expect(error?.cause == "the box at byte \(index) is not readable")
  }

  @Test func `an MP4 whose index is there and damaged`() throws {
    let whole = try Clips.make(
      "whole.mp4", Clips.picture("96x64") + ["-c:v", "libx264", "-movflags", "+faststart"])
    var bytes = try Data(contentsOf: URL(filePath: whole))
    let header = try #require(bytes.range(of: Data("mvhd".utf8)))
    bytes.replaceSubrange(header.lowerBound - 4..<header.lowerBound, with: [0x7F, 0, 0, 0])
    let file = try Clips.root.file("broken.mp4")
    try bytes.write(to: file)
    let error = try #require(try openError(file.path))
    #expect(error.code == "media.open.damaged" || error.code == "media.demux.noVideo", "\(error)")
  }

  /// The code of an error that is not a `MediaError`.
  private func limitCode(_ movie: Data, name: String) throws -> String? {
    let file = try Clips.root.file(name)
    try movie.write(to: file)
    do {
      _ = try MediaDemuxer(path: file.path)
      return nil
    } catch {
      return (error as? any RetakeError)?.code
    }
  }

  @Test func `an MP4 with more streams than a reader opens decoders for`() throws {
    let whole = try Clips.make("whole.mp4", Clips.picture("96x64") + ["-c:v", "libx264"])
    let bytes = try Data(contentsOf: URL(filePath: whole))
    func tracks(_ count: Int) -> Data {
      BoxFile.changing(["moov"], in: bytes) { movie in
        let track = BoxFile.find(["trak"], in: movie).map { BoxFile.box("trak", $0) } ?? Data()
        return (1..<count).reduce(movie) { inner, _ in inner + track }
      }
    }
    #expect(try limitCode(tracks(2), name: "two.mp4") == nil)
    #expect(try limitCode(tracks(128), name: "most.mp4") == nil)
    #expect(try limitCode(tracks(129), name: "many.mp4") == "media.open.limit")
  }

  @Test(arguments: [64 << 20, 64 << 20 + 1])
  func `an MP4 whose compressed index would need more memory than a reader allocates`(
    bytes: Int
  ) throws {
    let packed =
      BoxFile.box("dcom", Data("zlib".utf8)) + BoxFile.box("cmvd", BoxFile.number(bytes))
    let movie =
      BoxFile.box("ftyp", Data("qt  ".utf8) + Data(count: 8))
      + BoxFile.box("moov", BoxFile.box("cmov", packed))
    let isLimit = bytes > 64 << 20
    #expect(
      try limitCode(movie, name: "packed-\(bytes).mov")
        == (isLimit ? "media.open.limit" : "media.open.damaged"))
  }

  @Test func `a file without video`() throws {
    let file = try Clips.make(
      "sound.mkv", ["-f", "lavfi", "-i", "sine=frequency=440:duration=1", "-c:a", "pcm_s16le"])
    try check(file, code: "media.demux.noVideo")
  }

  @Test func `a track that is not there, with those that are`() throws {
    let file = try Clips.make("one.mkv", Clips.picture("32x32", frames: 2) + ["-c:v", "ffv1"])
    let demuxer = try MediaDemuxer(path: file)
    let error = #expect(throws: MediaError.self) { try demuxer.videoStream(3) }
    #expect(error?.code == "media.demux.noTrack")
    #expect(error?.advice == "Choose --track 0")
  }

  @Test func `floating point is refused by name`() throws {
    let file = try Clips.make(
      "float.mov", Clips.picture("32x32", frames: 2) + ["-c:v", "exr", "-pix_fmt", "gbrpf32le"])
    try check(file, code: "media.decode.bitDepth", most: 200)
    let error = try openError(file)
    #expect(error?.message.contains("gbrpf32le, floating point with 32 bits") == true)
    #expect(error?.advice?.contains("-pix_fmt gbrp16le -c:v ffv1") == true)
  }

  @Test func `XYZ is refused by name, and the command keeps its numbers`() throws {
    let file = try Clips.make(
      "xyz.nut",
      Clips.picture("32x32", frames: 2) + ["-c:v", "rawvideo", "-pix_fmt", "xyz12le"])
    // The command has two programs.
    try check(file, code: "media.decode.pixelFormat", most: 220)
    let error = try openError(file)
    #expect(error?.message.contains("xyz12le") == true)
    #expect(error?.advice?.contains("-pix_fmt rgb48le -s WIDTHxHEIGHT") == true)
  }

  @Test func `a codec that FFmpeg does not know`() {
    let stream = MediaStream(
      video: "nonesuch", width: 8, height: 8, pixelFormatName: "yuv420p", range: .limited,
      matrix: .bt601, timeBase: TimeBase(1, 25))
    #expect(errorCode { _ = try MediaDecoder(stream: stream) } == "media.decode.noDecoder")
  }

  @Test func `reading behind the end of a file says how much there was`() throws {
    let file = try MediaFile(path: try Clips.root.write("0123456789", to: "ten.bin").path)
    let error = #expect(throws: MediaError.self) {
      try file.packet(index: 0, pts: 0, dts: 0, flags: .key, offset: 6, size: 8)
    }
    #expect(error?.code == "media.demux.read")
    #expect(error?.cause == "4 of 8 bytes at 6")
  }

  @Test func `SHA-256 is the standard's`() throws {
    #expect(
      Sha256.digest(of: Array("abc".utf8))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    let empty = try Clips.root.write("", to: "empty.bin").path
    #expect(try Sha256.digest(ofFile: empty) { _ in true } == Sha256.digest(of: [UInt8]()))
  }
}
