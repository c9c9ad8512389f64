/// Reads the headers of one codec.
protocol EvidenceReader: Sendable {
  mutating func add(_ packet: MediaPacket) -> PacketEvidence
  /// The picture of the last packet was decoded twice.
  mutating func repeatLast(packet: Int)
  /// - Parameter packet: The last one.
  /// - Returns: damage that the end of the stream shows, nil for such that is withdrawn.
  mutating func finish(packet: Int) -> [Int: StreamDamage?]
  /// Whether the headers that were read cannot show each lost picture.
  var isUndecided: Bool { get }
}

extension EvidenceReader {
  /// A reference picture set names pictures by their order, so a repeated one does no harm.
  func repeatLast(packet: Int) {}
  var isUndecided: Bool { false }
  func finish(packet: Int) -> [Int: StreamDamage?] { [:] }
}
