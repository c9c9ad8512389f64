import RetakeCore
import RetakeMedia

/// The entries of a text track in the media files of a recording, one a packet.
struct SubtitlePackets: SubtitleEntries {
  static let placeName = "packet"
  private var demuxer: MediaDemuxer
  private var part: SensorPart
  private var rest: ArraySlice<SensorPart>
  private let continues: () -> Bool

  /// The most bytes of one packet: cameras write a few hundred.
  private static let packetBytesMax = 1 << 16

  /// - Parameters:
  ///   - first: The track in the first file.
  ///   - rest: The track in the files that follow.
  init(
    _ first: SensorPart, then rest: ArraySlice<SensorPart>, continues: @escaping () -> Bool
  ) throws {
    (part, self.rest, self.continues) = (first, rest, continues)
    demuxer = try Self.demuxer(of: first)
  }

  private static func demuxer(of part: SensorPart) throws -> MediaDemuxer {
    do {
      let demuxer = try MediaDemuxer(path: part.path)
      demuxer.select([part.stream.index])
      return demuxer
    } catch let error as MediaError {
      throw SensorError.unreadable(file: part.file, cause: error.message)
    }
  }

  mutating func next() throws -> SubtitleEntry? {
    while true {
      if let entry = try nextOfPart() { return entry }
      guard let following = rest.popFirst() else { return nil }
      part = following
      demuxer = try Self.demuxer(of: following)
    }
  }

  private func nextOfPart() throws -> SubtitleEntry? {
    while let packet = try nextPacket() {
      guard continues() else { throw SensorError.interrupted }
      guard packet.stream == part.stream.index else { continue }
      let (text, first) = try text(of: packet)
      // A packet without text is a pause.
      guard !text.isEmpty else { continue }
      guard let pts = packet.pts,
        let time = Timestamp(
          pts: pts, timeBase: part.stream.timeBase, movedBackBy: Int128(part.shift))
      else { throw damage(packet.index, 0, "it has no time") }
      // It repeats the file before.
      if let start = part.start, time.nanoseconds < start { continue }
      return SubtitleEntry(
        place: packet.index, time: time.nanoseconds, lines: Self.lines(of: text, from: first))
    }
    return nil
  }

  func damage(_ problem: SubtitleProblem, in entry: SubtitleEntry) -> SensorError {
    damage(entry.place, problem.place, problem.problem)
  }

  private func damage(_ packet: Int, _ byte: Int, _ problem: String) -> SensorError {
    .telemetry(file: part.file, packet: packet, byte: byte, problem: problem)
  }

  private func nextPacket() throws -> MediaPacket? {
    do {
      return try demuxer.nextPacket()
    } catch let error as MediaError {
      throw SensorError.unreadable(file: part.file, cause: error.message)
    }
  }

  /// The text, and its first byte in the packet. In MP4 its length comes first, in two bytes, and
  /// its styles follow (3GPP TS 26.245, 5.17).
  private func text(of packet: MediaPacket) throws -> (ArraySlice<UInt8>, first: Int) {
    guard packet.size <= Self.packetBytesMax else {
      throw damage(packet.index, 0, "it has more than \(Self.packetBytesMax) bytes")
    }
    let bytes = packet.bytes
    guard part.stream.codec == "mov_text" else { return (bytes[...], 0) }
    guard !bytes.isEmpty else { return ([], 0) }
    guard bytes.count >= 2, Int(bytes[0]) << 8 | Int(bytes[1]) <= bytes.count - 2 else {
      throw damage(packet.index, 0, "its text is longer than the packet")
    }
    return (bytes[2..<2 + (Int(bytes[0]) << 8 | Int(bytes[1]))], 2)
  }

  private static func lines(of text: ArraySlice<UInt8>, from first: Int) -> [SubtitleEntry.Line] {
    var lines: [SubtitleEntry.Line] = []
    var place = first
    for part in text.split(separator: 0x0A, omittingEmptySubsequences: false) {
      // A CR is a blank like the others.
      if part.contains(where: { $0 > 0x20 }) {
        lines.append(.init(place: place, text: String(decoding: part, as: UTF8.self)))
      }
      place += part.count + 1
    }
    return lines
  }
}
