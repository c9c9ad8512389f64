import RetakeBuffers
import Testing

@testable import RetakeMedia

@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"))
struct DecoderMemoryTests {
  /// Decodes every packet with one decoder with limited memory. Frames are kept or released.
  private func decode(
    _ file: String, bytesMax: Int, keeps: Bool
  ) throws -> (frames: [DecodedFrame], most: Int) {
    let demuxer = try MediaDemuxer(path: file)
    let decoder = try MediaDecoder(
      stream: try demuxer.videoStream(), file: file, bytesMax: bytesMax)
    var frames: [DecodedFrame] = []
    while let packet = try demuxer.nextPacket() {
      frames += keeps ? try decoder.decode(packet) : try Self.forgetting(decoder.decode(packet))
    }
    frames += keeps ? try decoder.decode(nil) : try Self.forgetting(decoder.decode(nil))
    return (frames, decoder.pictures.bytesMost)
  }

  private static func forgetting(_ frames: [DecodedFrame]) -> [DecodedFrame] { [] }

  @Test(arguments: [1, 6, 16])
  func `a stream is refused for what its decoder holds, not for what its readers do`(
    references: Int
  ) throws {
    let file = try Clips.make(
      "references-\(references).mkv",
      Clips.picture("96x64", frames: 60) + [
        "-c:v", "libx264", "-bf", "0", "-x264-params", "ref=\(references):keyint=60:scenecut=0",
      ])
    let (_, most) = try decode(file, bytesMax: .max, keeps: false)
    let picture = PixelFormat.i420.visibleBytes(width: 96, height: 64)
    #expect(most > references * picture, "the references, and the picture that is made of them")
    let (frames, mostAgain) = try decode(file, bytesMax: most, keeps: true)
    #expect(frames.count == 60)
    #expect(mostAgain == most, "the same although all 60 are kept")
    let error = #expect(throws: MediaError.self) {
      try decode(file, bytesMax: most - 1, keeps: false)
    }
    guard case .pictureMemory(96, 64, let bytes, let bytesMax, file) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(bytes == most && bytesMax == most - 1)
    #expect(error?.code == "media.memory.limit")
    #expect(error?.advice?.contains("RETAKE_MEMORY=1G") == true, "\(error?.advice ?? "")")
  }

  @Test(arguments: ["libx264", "png", "ffv1", "libvpx-vp9", "mpeg4", "mjpeg"])
  func `a decoder without room for a picture says so, whatever the codec`(codec: String) throws {
    let file = try Clips.make(
      "no-room-\(codec).mkv",
      Clips.picture("96x64", frames: 3)
        + [
          "-c:v", codec, "-pix_fmt",
          codec == "png" ? "gray" : codec == "mjpeg" ? "yuvj420p" : "yuv420p",
        ])
    let error = #expect(throws: MediaError.self) { try decode(file, bytesMax: 100, keeps: true) }
    #expect(error?.isAboutMemory == true, "\(String(describing: error))")
  }

  @Test func `memory that waits is bounded in bytes`() throws {
    let file = try Clips.make("bound.mkv", Clips.picture("96x64") + ["-c:v", "libx264"])
    let memory = ImageMemory(waitingBytesMax: 30_000)
    var frames = try decodeAll(file, memory: memory)
    let size = try #require(frames.first).frame.visibleBytes
    frames = []
    #expect(memory.counts.lent == 0)
    #expect(memory.counts.waiting * size <= 30_000 && memory.counts.waiting > 0)
    memory.freeWaiting()
    #expect(memory.counts.waiting == 0)
  }
}
