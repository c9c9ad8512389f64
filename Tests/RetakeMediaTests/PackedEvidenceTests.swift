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

  @Test(arguments: [1, 2])
  func `pictures before the first intra picture of a packed stream are named`(between: Int) throws {
    let stream = try EncodedStream(between: between)
    let good = Set(try stream.pictures(of: stream.packets).values)
    for group in [1, 4] {
      let packets = try stream.losing(0..<stream.groups[group])
      let wrong = try stream.pictures(of: packets).filter { !good.contains($0.value) }.keys
      let named = try stream.damages(of: packets).keys
      #expect(!wrong.isEmpty && Set(wrong).isSubset(of: named))
      #expect(named.count < 30)
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

/// Streams that begin with a picture that refers to others.
struct OpeningEvidenceTests {
  private func damages(
    _ codec: String, _ heads: [[UInt8]], keys: Set<Int> = []
  ) throws -> [Int: StreamDamage] {
    var evidence = try #require(
      StreamEvidence(
        MediaStream(index: 0, kind: .video, codec: codec, timeBase: TimeBase(1, 25))))
    var found: [Int: StreamDamage] = [:]
    for (place, head) in heads.enumerated() {
      let packet = try MediaPacket(
        index: place, pts: Int64(place), dts: nil, flags: keys.contains(place) ? .key : [],
        bytes: head + [UInt8](repeating: 0xFF, count: 16))
      found.merge(evidence.add(packet).damages) { old, _ in old }
    }
    for (packet, damage) in evidence.finish() { found[packet] = damage }
    return found
  }

  /// The first bytes of an intra and of a predicted picture.
  static let heads: [(codec: String, intra: [UInt8], predicted: [UInt8])] = [
    ("flv1", [0, 0, 0x80, 1, 0], [0, 0, 0x80, 1, 0x20]),
    ("flv1", [0, 0, 0x84, 0, 0, 0, 0], [0, 0, 0x84, 0, 0, 0, 0x20]),
    ("flv1", [0, 0, 0x80, 0, 0x80, 0, 0, 0, 0], [0, 0, 0x80, 0, 0x80, 0, 0, 0, 0x20]),
    ("msmpeg4v1", [0, 0, 1, 0, 0], [0, 0, 1, 0, 2]),
    ("msmpeg4v3", [0], [0x40]), ("wmv1", [0], [0x40]), ("wmv2", [0], [0x80]),
    // Without the header of a layer.
    ("mpeg4", [0, 0, 1, 0xB6, 0x10], [0, 0, 1, 0xB6, 0x50]),
  ]

  @Test(arguments: heads)
  func `the kind of a picture is in its header`(
    codec: String, intra: [UInt8], predicted: [UInt8]
  ) throws {
    let lost = StreamDamage.referenceMissing
    #expect(try damages(codec, [predicted, predicted, intra, predicted]) == [0: lost, 1: lost])
    #expect(try damages(codec, [intra, predicted, predicted]).isEmpty)
  }

  /// Such a stream begins with a sequence header and a predicted picture.
  @Test func `a stream of MPEG-2 that is refreshed part by part is no damage`() throws {
    func picture(_ number: Int, kind: UInt8) -> [UInt8] {
      let low = UInt8(number & 3) << 6 | kind << 3
      return [0, 0, 1, 0, UInt8(number >> 2), low, 0, 0, 0, 0, 1, 1]
    }
    let predicted = (0..<700).map { picture($0, kind: 2) }
    #expect(try damages("mpeg2video", predicted).isEmpty)
    #expect(try damages("mpeg2video", predicted + [picture(700, kind: 1)]).isEmpty)
    let found = try damages("mpeg2video", predicted.prefix(20) + [picture(20, kind: 1)])
    #expect(found.keys.sorted() == Array(0..<20))
  }

  /// The studio profile has pictures with other headers.
  @Test func `pictures of the studio profile of MPEG-4 are not judged`() throws {
    let sequence: [UInt8] = [0, 0, 1, 0xB0, 0xE3]
    #expect(try damages("mpeg4", [sequence + [0, 0, 1, 0xB6, 0x50]]).isEmpty)
  }

  @Test func `the flags of key packets count only if there are any`() throws {
    let packets = [[UInt8]](repeating: [1], count: 4)
    let lost = StreamDamage.referenceMissing
    #expect(try damages("msvideo1", packets, keys: [2]) == [0: lost, 1: lost])
    #expect(try damages("msvideo1", packets, keys: [0, 2]).isEmpty)
    #expect(try damages("msvideo1", packets).isEmpty)
  }

  /// A stream of H.261 has no intra pictures.
  @Test(arguments: ["wmv3", "vc1", "rv40", "h261", "mpeg4"])
  func `a decoder's warning counts where packets do not show it`(codec: String) throws {
    let line = "warning: first frame is no keyframe\n"
    let log = DecoderLog(codec: codec)
    log.add(line, packet: 0, isError: true)
    #expect(log.take().map(\.isDamage) == [!["h261", "mpeg4"].contains(codec)])
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
