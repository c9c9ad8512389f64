import Foundation
import RetakeCore
import Testing

@testable import RetakeMedia

/// Pictures that were exchanged with a neighbor, judged by FFmpeg's decoding.
@Suite(.enabled(if: Clips.hasFFmpeg, "the ffmpeg command is not installed"))
struct PlacementEvidenceTests {
  static let encodings: [[String]] = [
    ["-c:v", "libx264", "-g", "1"],
    x264("bframes=0"), x264("bframes=3:b-pyramid=none"), x264("bframes=3:open-gop=1"),
    x265("bframes=0"), x265("bframes=4:open-gop=1"), x265("bframes=4:open-gop=0"),
    ["-c:v", "mpeg2video", "-g", "24"], ["-c:v", "mpeg2video", "-g", "24", "-bf", "2"],
    ["-c:v", "mpeg4", "-g", "24"],
    ["-c:v", "libsvtav1", "-preset", "10", "-g", "24", "-svtav1-params", "lp=1"],
  ]

  private static func x264(_ parameters: String) -> [String] {
    ["-c:v", "libx264", "-x264-params", "keyint=24:min-keyint=24:scenecut=0:\(parameters)"]
  }

  private static func x265(_ parameters: String) -> [String] {
    [
      "-c:v", "libx265", "-x265-params",
      "log-level=none:keyint=24:min-keyint=24:scenecut=0:\(parameters)",
    ]
  }

  @Test(arguments: encodings)
  func `each picture that an exchange of two packets made wrong is named`(_ options: [String])
    throws
  {
    let stream = try EncodedStream(options)
    #expect(try stream.damages(of: stream.packets).isEmpty)
    let good = try stream.pictures(of: stream.packets)
    #expect(good.count == 60)
    var count = 0
    for place in [4, 23, 24, 25, 30, 31, 32, 40] {
      let packets = try stream.exchanging(place)
      let wrong = try stream.pictures(of: packets).filter { good[$0.key] != $0.value }.keys
      let named = try stream.damages(of: packets).keys
      count += wrong.count
      let missed = Set(wrong).subtracting(named)
      #expect(missed.isEmpty, "packets \(place) and \(place + 1): \(missed.sorted())")
    }
    #expect(count >= 16)
  }

  @Test(arguments: encodings.dropFirst())
  func `each picture that a repeated packet made wrong is named`(_ options: [String]) throws {
    let stream = try EncodedStream(options)
    let good = try stream.pictures(of: stream.packets)
    for place in [4, 20, 31, 40] {
      let packets = try stream.repeating(place)
      let wrong = try stream.pictures(of: packets).filter { good[$0.key] != $0.value }.keys
      let named = try stream.damages(of: packets).keys
      let missed = Set(wrong).subtracting(named)
      #expect(missed.isEmpty, "packet \(place): \(missed.sorted())")
    }
  }

  /// Containers that know only the order of decoding have such times.
  @Test(arguments: encodings)
  func `times in the order of decoding show nothing`(_ options: [String]) throws {
    let stream = try EncodedStream(options)
    let packets = try stream.packets.enumerated().map { place, packet in
      try MediaPacket(
        index: packet.index, pts: Int64(place) * 40, dts: Int64(place) * 40, flags: packet.flags,
        bytes: packet.bytes)
    }
    #expect(try stream.damages(of: packets).isEmpty)
  }
}

extension EncodedStream {
  fileprivate init(_ options: [String]) throws {
    let file = try Clips.make(
      "a.mkv",
      Clips.picture("128x96", frames: 60) + ["-threads", "1"] + options + [
        "-pix_fmt", "yuv420p",
      ])
    try self.init(file: file)
  }

  /// The packets with the bytes of two neighbors exchanged; their times stay.
  fileprivate func exchanging(_ place: Int) throws -> [MediaPacket] {
    var bytes = packets.map(\.bytes)
    bytes.swapAt(place, place + 1)
    return try zip(packets, bytes).map {
      try MediaPacket(index: $0.index, pts: $0.pts, dts: $0.dts, flags: $0.flags, bytes: $1)
    }
  }

  /// The packets with the bytes of one in place of its successor's.
  fileprivate func repeating(_ place: Int) throws -> [MediaPacket] {
    try packets.enumerated().map {
      try MediaPacket(
        index: $1.index, pts: $1.pts, dts: $1.dts, flags: $1.flags,
        bytes: $0 == place + 1 ? packets[place].bytes : $1.bytes)
    }
  }
}
