import Foundation
import Testing

@testable import RetakeBags

@Suite struct CDRTests {
  @Test func `numbers are aligned to their size, counted from behind the header`() throws {
    var reader = try MessageReader(
      [0, 1, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0][...])
    #expect(try reader.integer(UInt8.self) == 7)
    #expect(try reader.integer(UInt32.self) == 1)
    #expect(try reader.integer(UInt64.self) == 2)
    #expect(reader.remaining == 0)
  }

  @Test func `the header gives the order of bytes`() throws {
    var big = try MessageReader([0, 0, 0, 0, 0, 0, 1, 2, 0x3F, 0x80, 0, 0][...])
    #expect(try big.integer(Int32.self) == 258)
    #expect(try big.float() == 1)
    // The second version aligns to 4 at most.
    var second = try MessageReader([0, 7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0][...])
    #expect(try second.integer(UInt32.self) == 1)
    #expect(try second.integer(UInt64.self) == 2)
  }

  @Test func `an image in either order of bytes is the same`() throws {
    let little = SampleBag.image(
      1_500_000_000, "mono8", [1, 2, 3, 4], width: 2, height: 2, step: 2)
    // stamp 1.5 s; "camera"; 2x2; "mono8"; not big-endian; step 2; four bytes.
    let big: [UInt8] =
      [0, 0, 0, 0, 0, 0, 0, 1, 0x1D, 0xCD, 0x65, 0, 0, 0, 0, 7] + Array("camera\0".utf8) + [0]
      + [0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 6] + Array("mono8\0".utf8) + [0, 0]
      + [0, 0, 0, 2, 0, 0, 0, 4, 1, 2, 3, 4]
    for bytes in [little, big] {
      let image = try ImageMessage(bytes[...], type: ImageType(.rosImage))
      #expect(image.stampNanoseconds == 1_500_000_000)
      guard case .raw(let raw) = image.content else {
        Issue.record("not raw")
        return
      }
      #expect((raw.width, raw.height, raw.encoding, raw.step) == (2, 2, "mono8", 2))
      #expect(Array(raw.data) == [1, 2, 3, 4])
    }
  }

  @Test func `every beginning of a message is an error with its place, and no crash`() throws {
    let whole = SampleBag.image(1, "mono8", [1, 2, 3, 4], width: 2, height: 2, step: 2)
    for count in 0..<whole.count {
      #expect(throws: MessageProblem.self) {
        try ImageMessage(whole.prefix(count), type: ImageType(.rosImage))
      }
    }
  }

  @Test func `parameter lists are refused`() {
    #expect(throws: MessageProblem(offset: 0, cause: "its encapsulation is 3, not plain CDR")) {
      try MessageReader([0, 3, 0, 0][...])
    }
  }

  @Test func `Foxglove's protobuf messages are read by their numbers of fields`() throws {
    // timestamp {1: 2, 2: 5}, frame_id "a", data, format "h264", and a field that is not known.
    let video: [UInt8] =
      [0x0A, 4, 0x08, 2, 0x10, 5, 0x12, 1, 0x61, 0x1A, 3, 9, 8, 7, 0x22, 4] + Array("h264".utf8)
      + [0x50, 1]
    let image = try ImageMessage(video[...], type: ImageType(.foxgloveVideo, .protobuf))
    #expect(image.stampNanoseconds == 2_000_000_005)
    guard case .coded(let format, let isVideo, let data) = image.content else {
      Issue.record("not coded")
      return
    }
    #expect((format, isVideo) == ("h264", true))
    #expect(Array(data) == [9, 8, 7])
    // Every beginning of a field is an error or a message without the rest.
    for count in 0..<video.count {
      _ = try? ImageMessage(video.prefix(count), type: ImageType(.foxgloveVideo, .protobuf))
    }
    #expect(throws: MessageProblem.self) {
      try ImageMessage(
        [0x1A, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F][...], type: ImageType(.foxgloveVideo, .protobuf))
    }
  }

  @Test func `the checksum is that of the standard's example`() {
    // ITU-T V.42 and others: the check value of CRC-32.
    #expect(CRC32.of(Array("123456789".utf8)[...]) == 0xCBF4_3926)
    let bytes = SampleBag.pixels(1, 1_000)
    for cut in [0, 1, 7, 8, 9, 500] {
      var crc = CRC32()
      crc.update(with: bytes[..<cut])
      crc.update(with: bytes[cut...])
      #expect(crc.value == CRC32.of(bytes[...]))
    }
  }
}
