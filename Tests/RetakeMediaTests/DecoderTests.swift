import Foundation
import RetakeCore
import RetakeTestSupport
import Testing

@testable import RetakeMedia

@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not on this machine"))
struct DecoderTests {
  /// A clip of the shared folder and its n-th video track.
  static let footage: [(name: String, track: Int, frames: Int)] = [
    ("karma.mp4", 0, 362), ("nasa_13013.mp4", 0, 325), ("nasa_13013.mp4", 1, 390),
    ("nasa_13013_rotated.mp4", 0, 17), ("test_non_zero_start.mp4", 0, 12),
  ]

  @Test(
    .enabled(if: sharedMedia("karma.mp4") != nil, "the shared clips are not on this machine"),
    arguments: footage)
  func `every frame of real footage equals ffmpeg's own`(
    name: String, track: Int, frames: Int
  ) throws {
    let file = try #require(sharedMedia(name)).path
    let decoded = try decodeAll(file, track: track)
    #expect(decoded.count == frames)
    #expect(try decoded.map(\.frame.frameHash) == Clips.frameHashes(file, track: track))
    #expect(decoded.allSatisfy { !$0.isDamaged && !$0.differsFromStream })
  }

  @Test(arguments: [1, 2, 5])
  func `a line of the decoder's log names the damaged packet`(threads: Int) throws {
    let damaged: Set = [7, 23]
    let file = try Clips.make(
      "whole.mkv",
      Clips.picture("160x120", frames: 40) + ["-c:v", "libx264", "-bf", "2", "-g", "10"])
    let demuxer = try MediaDemuxer(path: file)
    let decoder = try MediaDecoder(
      stream: demuxer.videoStream(), file: file, threads: threads)
    var reports: [DecoderReport] = []
    var frames: [DecodedFrame] = []
    while let packet = try demuxer.nextPacket() {
      frames += try decoder.decode(damaged.contains(packet.index) ? packet.withBadEnd() : packet)
      reports += decoder.takeReports()
    }
    frames += try decoder.decode(nil)
    reports += decoder.takeReports()
    #expect(Set(reports.map(\.packet)) == damaged)
    #expect(frames.map(\.packetIndex).sorted() == Array(0..<40))
  }

  /// Clips that are difficult for decoders, as arguments of ffmpeg.
  static let made: [(name: String, arguments: [String])] = [
    (
      "open-gop.mp4",
      Clips.picture("160x120", frames: 60) + [
        "-c:v", "libx264", "-g", "12", "-bf", "3", "-x264-params", "open_gop=1:b-pyramid=normal",
      ]
    ),
    (
      "intra-refresh.mkv",
      Clips.picture("160x120", frames: 60) + [
        "-c:v", "libx264", "-x264-params", "intra-refresh=1:keyint=20:bframes=0",
      ]
    ),
    (
      "b-frames.mpg",
      Clips.picture("160x120", frames: 60) + ["-c:v", "mpeg2video", "-bf", "2", "-g", "12"]
    ),
    ("mpeg4.avi", Clips.picture("160x120") + ["-c:v", "mpeg4", "-bf", "2"]),
    (
      "full-range.avi",
      Clips.picture("160x120") + ["-c:v", "mjpeg", "-pix_fmt", "yuvj420p", "-q:v", "3"]
    ),
    (
      "422.mkv",
      Clips.picture("160x120") + ["-c:v", "libx264", "-pix_fmt", "yuv422p", "-bf", "2"]
    ),
    ("444.mkv", Clips.picture("96x64") + ["-c:v", "ffv1", "-pix_fmt", "yuv444p"]),
    ("odd.mkv", Clips.picture("101x67") + ["-c:v", "ffv1", "-pix_fmt", "yuv420p"]),
    ("odd.avi", Clips.picture("101x67") + ["-c:v", "mpeg4"]),
    ("grey.mkv", Clips.picture("101x67") + ["-c:v", "ffv1", "-pix_fmt", "gray"]),
    ("interlaced.ts", Clips.picture("160x128") + ["-c:v", "libx264", "-flags", "+ildct+ilme"]),
    ("vp8.webm", Clips.picture("100x68") + ["-c:v", "libvpx", "-auto-alt-ref", "1"]),
    ("raw.nut", Clips.picture("62x40") + ["-c:v", "rawvideo", "-pix_fmt", "nv12"]),
    ("rgb.nut", Clips.picture("62x40") + ["-c:v", "rawvideo", "-pix_fmt", "rgb24"]),
  ]

  @Test(arguments: made)
  func `every frame of a made clip equals ffmpeg's own, with clean and with poisoned memory`(
    name: String, arguments: [String]
  ) throws {
    let file = try Clips.make(name, arguments)
    let expected = try Clips.frameHashes(file)
    #expect(expected.count >= 30)
    for preparation in [ImageMemory.Preparation.asItIs, .poisoned] {
      let memory = ImageMemory(preparation: preparation)
      #expect(try decodeAll(file, memory: memory).map(\.frame.frameHash) == expected)
    }
    #expect(try decodeAll(file, threads: 2).map(\.frame.frameHash) == expected)
  }

  @Test func `a picture cropped on the left has exactly its visible pixels`() throws {
    let whole = try Clips.make("whole.h264", Clips.picture("128x96") + ["-c:v", "libx264"])
    let file = try Clips.make(
      "cropped.h264",
      ["-i", whole, "-c", "copy", "-bsf:v", "h264_metadata=crop_left=2:crop_right=4:crop_top=2"])
    let decoded = try decodeAll(file)
    #expect(decoded.allSatisfy { $0.frame.width == 122 && $0.frame.height == 94 })
    #expect(
      try decoded.map(\.frame.frameHash) == Clips.frameHashes(file, flags: "bitexact+unaligned"))
  }

  @Test func `frames before an edit list's start are decoded and not shown`() throws {
    let whole = try Clips.make(
      "whole.mp4", Clips.picture("96x64", frames: 50) + ["-c:v", "libx264", "-bf", "2", "-g", "25"])
    let file = try Clips.make("edited.mp4", ["-ss", "0.6", "-i", whole, "-c", "copy"])
    let demuxer = try MediaDemuxer(path: file)
    var discarded = 0
    while let packet = try demuxer.nextPacket() {
      discarded += packet.flags.contains(.discard) ? 1 : 0
    }
    let decoded = try decodeAll(file)
    #expect(discarded > 0)
    #expect(try decoded.map(\.frame.frameHash) == Clips.frameHashes(file))
  }

  @Test func `a change of size in mid-stream is said and decoded`() throws {
    let file = try Clips.root.file("sizes.h264")
    var bytes = Data()
    for size in ["96x64", "128x96"] {
      let part = try Clips.make("\(size).h264", Clips.picture(size) + ["-c:v", "libx264"])
      bytes += try Data(contentsOf: URL(filePath: part))
    }
    try bytes.write(to: file)
    let decoded = try decodeAll(file.path)
    #expect(decoded.map(\.differsFromStream) == (0..<60).map { $0 >= 30 })
    #expect(decoded.last?.frame.width == 128)
    let memory = ImageMemory(preparation: .poisoned)
    #expect(
      try decodeAll(file.path, memory: memory).map(\.frame.frameHash)
        == decoded.map(\.frame.frameHash))
  }

  @Test func `every frame says which packet it comes from`() throws {
    let file = try Clips.make(
      "order.mp4", Clips.picture("96x64") + ["-c:v", "libx264", "-bf", "3", "-g", "10"])
    let demuxer = try MediaDemuxer(path: file)
    var packets: [MediaPacket] = []
    while let packet = try demuxer.nextPacket() { packets.append(packet) }
    let frames = try decodeAll(file)
    #expect(frames.map(\.packetIndex).sorted() == Array(0..<30))
    #expect(frames.map(\.packetIndex) != Array(0..<30), "the clip has frames out of order")
    for frame in frames { #expect(packets[frame.packetIndex].pts == frame.pts) }
    #expect(frames.map { $0.frame.timestamp } == frames.map { $0.frame.timestamp }.sorted())
    #expect(frames.first?.pictureType == .intra)
    #expect(frames.contains { $0.pictureType == .bidirectional })
  }

  @Test func `a decoder made of a stored description gives the same frames`() throws {
    let file = try Clips.make(
      "stored.mkv", Clips.picture("102x66", frames: 40) + ["-c:v", "libx264", "-bf", "2"])
    let demuxer = try MediaDemuxer(path: file)
    let said = try demuxer.videoStream()
    let stored = MediaStream(
      index: said.index, video: said.storedCodec, extradata: said.extradata, width: said.width,
      height: said.height, pixelFormatName: said.pixelFormatName, range: said.range,
      matrix: said.matrix, timeBase: said.timeBase, delay: said.delay)
    let reader = try MediaFile(path: file)
    let decoder = try MediaDecoder(stream: stored, file: file)
    var frames: [DecodedFrame] = []
    while let packet = try demuxer.nextPacket() {
      let bytes = try MediaPacket(
        stream: packet.stream, index: packet.index, pts: packet.pts, dts: packet.dts,
        flags: packet.flags, size: packet.size, sideData: packet.sideData
      ) { (memory: UnsafeMutableRawBufferPointer) in memory.copyBytes(from: packet.bytes) }
      #expect(bytes.digest == packet.digest)
      frames += try decoder.decode(bytes)
    }
    frames += try decoder.decode(nil)
    #expect(reader.size > 0)
    #expect(try frames.map(\.frame.frameHash) == Clips.frameHashes(file))
  }

  @Test func `packets read by their offset decode without a demuxer`() throws {
    let file = try Clips.make(
      "offset.mp4", Clips.picture("96x64") + ["-c:v", "libx264", "-bf", "2"])
    let demuxer = try MediaDemuxer(path: file)
    let reader = try MediaFile(path: file)
    let decoder = try MediaDecoder(stream: try demuxer.videoStream(), file: file)
    var hashes: [String] = []
    while let packet = try demuxer.nextPacket() {
      let stored = try reader.packet(
        index: packet.index, pts: packet.pts, dts: packet.dts, flags: packet.flags,
        offset: try #require(packet.offset), size: packet.size, sideData: packet.sideData)
      #expect(stored.digest == packet.digest)
      hashes += try decoder.decode(stored).map(\.frame.frameHash)
    }
    hashes += try decoder.decode(nil).map(\.frame.frameHash)
    #expect(try hashes == Clips.frameHashes(file))
  }

  @Test func `a flushed decoder begins again with equal frames`() throws {
    let file = try Clips.make("again.mkv", Clips.picture("96x64") + ["-c:v", "libx264", "-g", "9"])
    let demuxer = try MediaDemuxer(path: file)
    let decoder = try MediaDecoder(stream: try demuxer.videoStream())
    var rounds: [[String]] = []
    for _ in 0..<2 {
      var hashes: [String] = []
      while let packet = try demuxer.nextPacket() {
        hashes += try decoder.decode(packet).map(\.frame.frameHash)
      }
      rounds.append(hashes + (try decoder.decode(nil).map(\.frame.frameHash)))
      decoder.flush()
      try demuxer.reopen()
    }
    #expect(rounds[0].count == 30)
    #expect(rounds[0] == rounds[1])
  }

  @Test func `a damaged packet marks frames or is refused, and later key frames are fine`() throws {
    let file = try Clips.make(
      "damaged.mkv", Clips.picture("160x120") + ["-c:v", "libx264", "-g", "10", "-bf", "0"])
    let demuxer = try MediaDemuxer(path: file)
    let decoder = try MediaDecoder(stream: try demuxer.videoStream())
    let expected = try Clips.frameHashes(file)
    var damage = 0
    var last: [String] = []
    while let packet = try demuxer.nextPacket() {
      var sent = packet
      if packet.index == 3 {
        var bytes = packet.bytes
        for index in stride(from: 20, to: bytes.count, by: 3) { bytes[index] ^= 0x5A }
        sent = try MediaPacket(
          index: packet.index, pts: packet.pts, dts: packet.dts, flags: packet.flags, bytes: bytes)
      }
      do {
        let frames = try decoder.decode(sent)
        damage += frames.count { $0.isDamaged }
        last += frames.filter { $0.packetIndex >= 10 }.map(\.frame.frameHash)
      } catch {
        damage += 1
      }
    }
    last += try decoder.decode(nil).map(\.frame.frameHash)
    #expect(damage > 0)
    #expect(last.suffix(20) == expected.suffix(20))
  }
}

extension MediaPacket {
  /// The same packet, with other bytes in its second half.
  fileprivate func withBadEnd() throws -> MediaPacket {
    var bytes = self.bytes
    for index in bytes.count / 2..<bytes.count {
      bytes[index] = UInt8(truncatingIfNeeded: 37 * index)
    }
    return try MediaPacket(
      stream: stream, index: index, pts: pts, dts: dts, duration: duration, flags: flags,
      bytes: bytes)
  }
}
