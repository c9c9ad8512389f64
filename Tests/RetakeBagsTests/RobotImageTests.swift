import Foundation
import RetakeBuffers
import RetakeCore
import RetakeSession
import RetakeTestSupport
import Testing

@testable import RetakeBags

/// Images as robots send them: packed depth, samples of a mosaic, packets of video.
@Suite struct RobotImageTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func importing(
    _ type: String, _ messages: [[UInt8]], encoding: String = "cdr"
  ) throws -> (BagImportResult, SessionReader) {
    var bag = SampleBag(topics: [.init(name: "/cam", type: type, encoding: encoding)])
    for (number, bytes) in messages.enumerated() {
      bag.add(0, bytes, at: SampleBag.base + Int64(number) * 1_000_000)
    }
    let path = folder.file("run.mcap").path
    try Data(try bag.mcap()).write(to: URL(fileURLWithPath: path))
    let result = try BagImporter(BagImportOptions(path: path, into: folder.url.path)).run()
    return (result, try SessionReader(opening: result.folder.path))
  }

  private func samples(_ reader: SessionReader, _ number: Int) throws -> [UInt16] {
    let bytes = try reader.frame(FrameID(track: 0, sequence: number)).bytes(of: 0)
    return stride(from: 0, to: bytes.count, by: 2).map {
      UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
    }
  }

  /// Two rows of four samples of 16 bits: 0, 1, 256, 65535 and 1000, 4660, 3, 40000.
  private static let png =
    "iVBORw0KGgoAAAANSUhEUgAAAAQAAAACEAAAAAAKU/78AAAAGklEQVR42mNgYGBgZGT4/5+B+YWQCQPzHAcAHnkEEUgUBxUA"
    + "AAAASUVORK5CYII="

  @Test func `packed depth has the millimeters that were sent, as PNG and as RVL`() throws {
    let parameters = [UInt8](repeating: 0, count: 12)
    let png = [UInt8](try #require(Data(base64Encoded: Self.png)))
    let packed = (0..<3).map {
      SampleBag.compressed(
        SampleBag.base + $0, "16UC1; compressedDepth png", parameters + png)
    }
    let (result, reader) = try importing("sensor_msgs/msg/CompressedImage", packed)
    #expect(result.status == .clean && result.tracks.map(\.encoding) == ["png"])
    #expect(try samples(reader, 2) == [0, 1, 256, 65_535, 1_000, 4_660, 3, 40_000])
    // 4x1: no sample for two pixels, then 5 and 3. In groups of three bits: 2 zeros, 2 others,
    // +5 as 10, which is 2 and 1, and -2 as 3.
    let depth = try CompressedDepth(
      "16UC1; compressedDepth rvl",
      (parameters + [4, 0, 0, 0, 1, 0, 0, 0] + [0x00, 0x30, 0xA1, 0x22])[...])
    guard case .raw(let image) = depth?.content else {
      Issue.record("RVL is raw")
      return
    }
    #expect((image.width, image.height, image.encoding) == (4, 1, "16UC1"))
    #expect(Array(image.data) == [0, 0, 0, 0, 5, 0, 3, 0])
  }

  @Test func `RVL that claims more than it has is an error, and never a crash`() throws {
    let size: [UInt8] = [UInt8](repeating: 0, count: 12) + [4, 0, 0, 0, 1, 0, 0, 0]
    let bad: [[UInt8]] = [
      [], [0, 0, 0, 0x55], [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    ]
    for bytes in bad {
      #expect(throws: MessageProblem.self) {
        try CompressedDepth("16UC1; compressedDepth rvl", (size + bytes)[...])
      }
    }
    let huge: [UInt8] = [UInt8](repeating: 0, count: 12) + [UInt8](repeating: 0xFF, count: 8)
    #expect(throws: MessageProblem.self) {
      try CompressedDepth("16UC1; compressedDepth rvl", huge[...])
    }
  }

  @Test func `depth in floating point is left out by its name`() throws {
    let message = SampleBag.compressed(1, "32FC1; compressedDepth png", [1, 2, 3])
    #expect {
      try importing("sensor_msgs/msg/CompressedImage", [message])
    } throws: {
      ($0 as? BagError)?.cause?.contains("32FC1; compressedDepth png") == true
    }
  }

  @Test(arguments: [("bayer_grbg8", 1), ("bayer_bggr16", 2)])
  func `raw samples are kept as they are, with the pattern and the node that makes colors`(
    encoding: String, bytes: Int
  ) throws {
    let pixels = SampleBag.pixels(1, 48 * bytes)
    let message = SampleBag.image(SampleBag.base, encoding, pixels, step: 8 * bytes)
    let (result, reader) = try importing("sensor_msgs/msg/Image", [message])
    let frame = try reader.frame(FrameID(track: 0, sequence: 0))
    #expect(frame.format == (bytes == 1 ? .gray : .gray(bits: 16)))
    #expect(frame.bytes(of: 0) == pixels)
    #expect(result.tracks.map(\.encoding) == [encoding])
    let pattern = encoding.dropFirst(6).prefix(4)
    let notes = try reader.footageNotes()
    #expect(notes.count == 1 && result.notes.isEmpty)
    #expect(notes[0].contains("\"pattern\": \"\(pattern)\""), "\(notes)")
  }

  @Test func `raw samples that are packed as PNG have the node that makes colors`() throws {
    let png = [UInt8](try #require(Data(base64Encoded: Self.png)))
    for (format, pattern) in [("bayer_gbrg16; png compressed ", "gbrg"), ("mono16; png", "")] {
      let message = SampleBag.compressed(SampleBag.base, format, png)
      let (result, reader) = try importing("sensor_msgs/msg/CompressedImage", [message])
      let notes = try reader.footageNotes()
      #expect(notes.contains { $0.contains("\"pattern\": \"\(pattern)\"") } == !pattern.isEmpty)
      try FileManager.default.removeItem(atPath: result.folder.path)
    }
  }

  @Test(arguments: ["h264", "libx264", "h264_nvenc", "h264;yuv420p;bgr8;bgr8"])
  func `a packet of ffmpeg_image_transport is a packet of its codec`(format: String) throws {
    for encoding in [MessageEncoding.cdr, .ros1] {
      let message = try ImageMessage(
        packet(format, encoding)[...], type: ImageType(.ffmpegPacket, encoding))
      #expect(message.stampNanoseconds == 1_000_000_002)
      let form = try ImageForm(message, place: BagPlace(file: "a"))
      #expect(form.codec == .h264)
      guard case .coded(format, true, let data) = message.content else {
        Issue.record("not coded")
        return
      }
      #expect(Array(data) == [0, 0, 0, 1, 0x65])
    }
  }

  @Test func `video that begins within a group of pictures says what was left out`() throws {
    let file = folder.file("v.h264")
    let made = try runFFmpeg(
      arguments: [
        "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=96x64:rate=10",
        "-frames:v", "10", "-pix_fmt", "yuv420p", "-c:v", "libx264", "-bf", "0", "-g", "5",
        "-bsf:v", "h264_metadata=aud=insert", file.path,
      ])
    try #require(made.status == 0, "\(made.stderr)")
    let packets = [UInt8](try Data(contentsOf: file)).split(separator: [0, 0, 0, 1, 9])
    try #require(packets.count == 10)
    let messages = packets.dropFirst(2).enumerated().map { number, packet in
      var writer = CDRWriter()
      writer.stamp(SampleBag.base + Int64(number))
      writer.string("camera")
      writer.sequence([0, 0, 0, 1, 9] + packet)
      writer.string("h264")
      return writer.bytes
    }
    let (result, reader) = try importing("foxglove_msgs/msg/CompressedVideo", messages)
    #expect(try reader.frames(track: 0).map(\.pts) == [3, 4, 5, 6, 7])
    #expect(
      result.notes == ["track 0: 3 packets before the first key frame decode to no image"])
  }

  /// A message of ffmpeg_image_transport_msgs/msg/FFMPEGPacket.
  private func packet(_ format: String, _ encoding: MessageEncoding) -> [UInt8] {
    guard encoding == .ros1 else {
      var writer = CDRWriter()
      writer.stamp(1_000_000_002)
      writer.string("c")
      for side in [64, 48] as [UInt32] { writer.integer(side) }
      writer.string(format)
      writer.integer(UInt64(7))
      writer.integer(UInt8(1))
      writer.integer(UInt8(0))
      writer.sequence([0, 0, 0, 1, 0x65])
      return writer.bytes
    }
    func sized(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count), 0, 0, 0] + bytes }
    let header: [UInt8] = [9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0] + sized([0x63])
    let fields: [UInt8] = [7, 0, 0, 0, 0, 0, 0, 0, 1, 0]
    return header + [64, 0, 0, 0, 48, 0, 0, 0] + sized(Array(format.utf8)) + fields
      + sized([0, 0, 0, 1, 0x65])
  }
}
