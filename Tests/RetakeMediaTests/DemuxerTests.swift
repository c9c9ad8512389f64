import Foundation
import RetakeBuffers
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeMedia

@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"))
struct DemuxerTests {
  @Test(.enabled(if: sharedMedia("karma.mp4") != nil, "the shared clips are not on this machine"))
  func `the streams of a field recording are described`() throws {
    let demuxer = try MediaDemuxer(path: try #require(sharedMedia("karma.mp4")).path)
    let video = try demuxer.videoStream()
    #expect(demuxer.streams.map(\.kind) == [.video, .audio, .data, .data, .data])
    #expect(video.codec == "h264")
    #expect(video.profileName == "Main")
    #expect((video.width, video.height) == (854, 480))
    #expect(video.pixelFormatName == "yuvj420p")
    #expect((video.range, video.rangeAssumed) == (.full, false))
    #expect((video.matrix, video.matrixAssumed) == (.bt709, false))
    #expect(video.timeBase == TimeBase(1, 90_000))
    #expect(video.averageFrameRate == FrameRate(30_000, 1001))
    #expect(video.frameCountHint == 362)
    #expect(video.delay == 1)
    #expect(demuxer.missingBytes == 0)
  }

  @Test(
    .enabled(if: sharedMedia("karma.mp4") != nil, "the shared clips are not on this machine"))
  func `rotation, start and a missing color description are read`() throws {
    let turned = try MediaDemuxer(
      path: try #require(sharedMedia("nasa_13013_rotated.mp4")).path
    ).videoStream()
    #expect(turned.rotationDegrees == 270)
    let late = try MediaDemuxer(
      path: try #require(sharedMedia("test_non_zero_start.mp4")).path
    ).videoStream()
    #expect(late.start == 127_995)
    #expect(late.sampleAspect == SampleAspect(224, 225))
    #expect((late.range, late.rangeAssumed) == (.limited, true))
    #expect((late.matrix, late.matrixAssumed) == (.bt601, true))
  }

  @Test(arguments: [90, 180, 270])
  func `rotation is clockwise for the viewer, as ffmpeg turns the picture`(tag: Int) throws {
    let plain = try Clips.make("plain.mp4", Clips.picture("64x48", frames: 1))
    let file = try Clips.root.file("turned-\(tag).mp4").path
    try turnMovie(plain, by: tag, into: file)
    let degrees = try MediaDemuxer(path: file).videoStream().rotationDegrees
    let filters = [90: "transpose=clock", 180: "hflip,vflip", 270: "transpose=cclock"]
    let filter = try #require(filters[degrees])
    let turned = try Clips.ffmpeg(["-i", file, "-f", "rawvideo", "-"])
    let byHand = try Clips.ffmpeg([
      "-noautorotate", "-i", file, "-vf", filter, "-f", "rawvideo", "-",
    ])
    #expect(turned == byHand)
  }

  @Test func `packets are numbered, dated, hashed and located`() throws {
    let file = try Clips.make(
      "packets.mp4",
      Clips.picture("96x64") + ["-c:v", "libx264", "-bf", "2", "-g", "10"])
    let demuxer = try MediaDemuxer(path: file)
    let whole = try Data(contentsOf: URL(filePath: file))
    var packets: [MediaPacket] = []
    while let packet = try demuxer.nextPacket() { packets.append(packet) }
    #expect(packets.map(\.index) == Array(0..<30))
    #expect(packets.count { $0.flags.contains(.key) } == 3)
    for packet in packets {
      let offset = Int(try #require(packet.offset))
      #expect(packet.bytes == Array(whole[offset..<offset + packet.size]))
      #expect(packet.digest == Digest128(of: packet.bytes))
      #expect(packet.pts != nil && packet.dts != nil && packet.duration == 512)
    }
  }

  @Test func `side data is kept and can be put back`() throws {
    let bytes: [UInt8] = [1, 0, 0, 0, 3, 0, 0, 0, 9, 8, 7]
    let packet = try MediaPacket(
      stream: 0, index: 4, pts: nil, dts: nil, flags: [], size: 2, sideData: bytes
    ) { (memory: UnsafeMutableRawBufferPointer) in memory.copyBytes(from: [5, 6]) }
    #expect(packet.sideData == bytes)
    #expect(packet.bytes == [5, 6])
    let code = errorCode {
      _ = try MediaPacket(
        stream: 0, index: 4, pts: nil, dts: nil, flags: [], size: 0,
        sideData: Array(bytes.dropLast())
      ) { (_: UnsafeMutableRawBufferPointer) in }
    }
    #expect(code == "media.decode.refused")
  }

  @Test func `seeking goes back to a key packet and reopening to the first one`() throws {
    let file = try Clips.make(
      "seek.mkv", Clips.picture("96x64") + ["-c:v", "libx264", "-bf", "0", "-g", "10"])
    let demuxer = try MediaDemuxer(path: file)
    let first = try #require(try demuxer.nextPacket())
    try demuxer.seek(stream: 0, timestamp: 650)
    let sought = try #require(try demuxer.nextPacket())
    #expect(sought.pts == 400)
    #expect(sought.flags.contains(.key))
    try demuxer.reopen()
    #expect(try demuxer.nextPacket()?.digest == first.digest)
  }

  @Test func `a file cut short behind its index is opened, and what is missing is counted`() throws
  {
    let whole = try Clips.make(
      "faststart.mp4",
      Clips.picture("96x64") + ["-c:v", "libx264", "-movflags", "+faststart"])
    let bytes = try Data(contentsOf: URL(filePath: whole))
    let file = try Clips.root.file("cut-\(UUID().uuidString).mp4")
    try bytes.prefix(bytes.count - 3000).write(to: file)
    let demuxer = try MediaDemuxer(path: file.path)
    #expect(demuxer.missingBytes == 3000)
    var packets: [MediaPacket] = []
    while let packet = try? demuxer.nextPacket() { packets.append(packet) }
    #expect(packets.count < 30 && packets.count > 3)
    #expect(packets.last?.flags.contains(.corrupt) == true)
    #expect(packets.dropLast().allSatisfy { !$0.flags.contains(.corrupt) })
  }

  @Test func `a codec's text keeps the tag and the bits where decoders need them`() {
    var stream = MediaStream(index: 0, kind: .video, codec: "mpeg4", timeBase: TimeBase(1, 25))
    stream.codecTag = 0x4449_5658
    #expect(stream.storedCodec == "mpeg4+44495658")
    stream.codec = "rawvideo"
    stream.codecTag = 0
    stream.bitsPerCodedSample = 24
    #expect(stream.storedCodec == "rawvideo+0+24")
    stream.storedCodec = "mpeg4+44495658"
    #expect((stream.codec, stream.codecTag) == ("mpeg4", 0x4449_5658))
    stream.codec = "h264"
    #expect(stream.storedCodec == "h264")
  }
}
