/// Finds pictures that refer to a picture before the beginning of the stream, in codecs whose
/// headers have no numbers, and whose decoders return such pictures without an error.
///
/// The kind of a picture is in its header. Codecs that change parts of the last image have no such
/// field: there the container's flag of key packets counts, if any packet has it.
struct OpeningEvidence: EvidenceReader {
  private let codec: String
  private var hasIntra = false
  private var first: Int?

  private static let headerCodecs: Set = [
    "flv1", "msmpeg4v1", "msmpeg4v2", "msmpeg4v3", "wmv1", "wmv2",
  ]
  private static let flagCodecs: Set = [
    "aasc", "cscd", "flashsv", "msrle", "msvideo1", "rpza", "smc", "tscc",
  ]
  private static let headBytes = 16

  /// - Returns: nil for another codec.
  init?(codec: String) {
    guard Self.headerCodecs.contains(codec) || Self.goesByFlags(codec) else { return nil }
    self.codec = codec
  }

  /// Whether only the container says which pictures are intra pictures.
  static func goesByFlags(_ codec: String) -> Bool { flagCodecs.contains(codec) }

  mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    first = first ?? packet.index
    let head = packet.withBytes { Array($0.prefix(Self.headBytes)) }
    let kind =
      Self.goesByFlags(codec) ? packet.flags.contains(.key) : Self.isIntra(head, codec: codec)
    guard let isIntra = kind else { return PacketEvidence() }
    hasIntra = hasIntra || isIntra
    return hasIntra ? PacketEvidence(isRefresh: isIntra) : .withoutStart
  }

  mutating func finish(packet: Int) -> [Int: StreamDamage?] {
    guard Self.goesByFlags(codec), !hasIntra, let first, first <= packet else { return [:] }
    return Dictionary(uniqueKeysWithValues: (first...packet).map { ($0, nil) })
  }

  /// - Returns: nil if it is not a header of a picture.
  private static func isIntra(_ head: [UInt8], codec: String) -> Bool? {
    var bits = BitReader(head)
    switch codec {
    case "flv1":
      guard bits.read(17) == 1, bits.read(5) <= 1 else { return nil }
      bits.skip(8)
      let size = bits.read(3)
      bits.skip(size == 0 ? 16 : size == 1 ? 32 : 0)
    case "msmpeg4v1":
      guard bits.read(32) == 0x100 else { return nil }
      bits.skip(5)
    default: break
    }
    let isIntra = bits.read(codec == "wmv2" ? 1 : 2) == 0
    return bits.isOver ? nil : isIntra
  }
}
