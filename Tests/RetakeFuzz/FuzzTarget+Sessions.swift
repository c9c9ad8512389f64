import Foundation
import RetakeBags
import RetakeCore
import RetakeMedia
import RetakeSession
import RetakeStore

extension FuzzTarget {
  /// Recordings: databases, containers, bags, and the headers of codecs.
  static let sessions = [
    .file("session", "session.sqlite") { file in
      let store = try StoreReader(opening: file.path)
      _ = try? store.checkContent()
      _ = store.salvage()
      _ = try store.sensors()
      try store.requireWhole()
    },
    .file("container", "clip.bin") { file in try readContainer(file.path) },
    FuzzTarget("headers") { bytes, _ in try readHeaders(bytes) },
    .file("ros1", "clip.bag") { file in try readBag(file) },
    .file("ros2", "clip.db3") { file in try readBag(file) },
    .file("mcap", "clip.mcap") { file in try readBag(file) },
  ]

  /// FFmpeg's loops over a file are not under test.
  private static let packetsMax = 64

  private static func readContainer(_ path: String) throws {
    let demuxer = try MediaDemuxer(path: path)
    var (first, count): (Int?, Int) = (nil, 0)
    // Ends: the packets are counted.
    while count < packetsMax, let packet = try demuxer.nextPacket() {
      first = first ?? packet.size
      count += 1
    }
    _ = ContainerEnd.losses(
      of: try MediaFile(path: path), format: demuxer.format, packetBytes: first)
    try demuxer.requireWhole(demuxer.videoStreams)
  }

  /// The input is lists of bytes, each after its size in two bytes: the name of a codec, the data
  /// of its stream, and packets. The last bit of a packet's first byte marks a key packet.
  private static func readHeaders(_ bytes: [UInt8]) throws {
    var parts = SizedParts(bytes)
    guard let codec = parts.next(), let extradata = parts.next() else { return }
    var stream = MediaStream(
      index: 0, kind: .video, codec: String(decoding: codec, as: UTF8.self),
      timeBase: TimeBase(1, 1_000))
    stream.extradata = extradata
    stream.delay = 1
    guard var evidence = StreamEvidence(stream) else { return }
    var index = 0
    // Ends: each round consumes two bytes or more.
    while let part = parts.next() {
      let packet = try MediaPacket(
        index: index, pts: Int64(index), dts: Int64(index),
        flags: part.first.map { $0 & 1 == 1 } == true ? .key : [], bytes: Array(part.dropFirst()))
      _ = evidence.add(packet)
      index += 1
    }
    _ = evidence.finish()
  }

  /// Reads what an import reads, and writes no session.
  private static func readBag(_ file: URL) throws {
    let bag = try Bag(
      BagFiles(file.path), scratch: file.deletingLastPathComponent().path)
    let images = bag.topics.map { topic in try? ImageType(topic) }
    let plans = bag.topics.map { topic in (try? BagSensor.plans(for: topic)) ?? [] }
    try bag.read(report: { _ in }) { item in
      guard case .message(let message) = item else { return }
      if let type = images[message.topic],
        let image = try? ImageMessage(message, type: type)
      {
        _ = try? ImageForm(image, place: message.place)
      }
      for plan in plans[message.topic] { _ = try? plan.layout.values(of: message.bytes) }
    }
  }
}

/// Lists of bytes, each after its size in two bytes, the lower byte first.
struct SizedParts {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: [UInt8]) { rest = bytes[...] }

  /// `nil` at the end; the last list may be shorter than its size says.
  mutating func next() -> [UInt8]? {
    guard rest.count >= 2 else { return nil }
    let count = Int(rest.removeFirst()) | Int(rest.removeFirst()) << 8
    defer { rest = rest.dropFirst(count) }
    return Array(rest.prefix(count))
  }
}
