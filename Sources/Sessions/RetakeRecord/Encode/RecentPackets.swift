import RetakeMedia

/// The last packets that were given to a decoder; bounded.
struct RecentPackets {
  private static let countMax = 32
  /// Longer than any recovery of a stream that has no IDR pictures.
  private static let openingMax = 600
  private static let openingBytesMax = 16 << 20
  private var packets: [MediaPacket] = []
  /// From the first key packet on, until the first picture; nil after it.
  private var opening: [MediaPacket]? = []
  private var openingBytes = 0

  mutating func add(_ packet: MediaPacket) {
    if packets.count == Self.countMax { packets.removeFirst() }
    packets.append(packet)
    guard opening?.isEmpty == false || packet.flags.contains(.key) else { return }
    opening?.append(packet)
    openingBytes += packet.size
    let isOver = openingBytes > Self.openingBytesMax || opening?.count ?? 0 > Self.openingMax
    if isOver { opening = nil }
  }

  mutating func original(of decoded: DecodedFrame, stream: MediaStream) -> OriginalPacket? {
    let index = decoded.packetIndex
    let rollIn = opening?.filter { $0.index < index } ?? []
    opening = nil
    return packets.last { $0.index == index }.map {
      OriginalPacket(packet: $0, stream: stream, rollIn: rollIn)
    }
  }
}
