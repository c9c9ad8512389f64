import Foundation
import RetakeCore
import Testing

@testable import RetakeMedia

/// Lost packets of a packed MPEG-4 stream (Xvid), judged by FFmpeg's decoding.
@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not installed"))
struct PackedEvidenceTests {
  /// A group is a packet with a reference and a bidirectional picture, packets with further
  /// bidirectional pictures, and a placeholder.
  enum Loss: CaseIterable {
    case first, group, placeholder
  }

  @Test(arguments: [1, 2], Loss.allCases)
  func `each picture that a lost packet of a packed stream made wrong is named`(
    between: Int, loss: Loss
  ) throws {
    let stream = try EncodedStream(between: between)
    #expect(try stream.damages(of: stream.packets).isEmpty)
    let good = Set(try stream.pictures(of: stream.packets).values)
    for group in [2, 9] {
      let start = stream.groups[group]
      let lost =
        switch loss {
        case .first: start..<start + 1
        case .group: start..<start + between + 1
        case .placeholder: start + between..<start + between + 1
        }
      let packets = try stream.losing(lost)
      let pictures = try stream.pictures(of: packets)
      let wrong = Set(pictures.filter { !good.contains($0.value) }.keys)
      let named = Set(try stream.damages(of: packets).keys)
      #expect(!wrong.isEmpty && wrong.isSubset(of: named), "packets \(lost)")
      #expect(named.intersection(pictures.keys) == wrong, "packets \(lost)")
    }
  }

  /// A key picture in a packet with a bidirectional picture has a placeholder of its own kind.
  @Test(arguments: ["12", "25", "250"])
  func `a whole packed stream has no damage`(distance: String) throws {
    for between in [1, 2] {
      let stream = try EncodedStream(between: between, ["-g", distance])
      #expect(!stream.groups.isEmpty)
      #expect(try stream.damages(of: stream.packets).isEmpty)
    }
  }

  /// The encoder counts the pictures that it receives.
  @Test func `frames that were dropped before the encoder are no damage`() throws {
    let stream = try EncodedStream(
      between: 2,
      ["-g", "25", "-vf", "select='not(between(n,10,14)+eq(n,30))'", "-fps_mode", "vfr"])
    #expect(try stream.damages(of: stream.packets).isEmpty)
  }
}

extension EncodedStream {
  /// A packed stream without its empty packets, which FFmpeg does not return.
  fileprivate init(between: Int, _ options: [String] = ["-g", "25"]) throws {
    let file = try Clips.make(
      "a.avi",
      Clips.picture("128x96", frames: 60) + options + [
        "-threads", "1", "-pix_fmt", "yuv420p", "-c:v", "libxvid", "-q:v", "3",
        "-bf", "\(between)",
      ])
    try self.init(file: file)
  }

  /// Places of packets with two pictures.
  fileprivate var groups: [Int] {
    packets.indices.filter { place in
      packets[place].startCodeHeads(countMax: 1).filter { $0 == [0xB6] }.count == 2
    }
  }

  fileprivate func losing(_ lost: Range<Int>) throws -> [MediaPacket] {
    let kept = packets.indices.filter { !lost.contains($0) }.map { packets[$0] }
    return try kept.enumerated().map { place, packet in
      try MediaPacket(
        index: place, pts: packet.pts, dts: packet.dts, flags: packet.flags, bytes: packet.bytes)
    }
  }
}
