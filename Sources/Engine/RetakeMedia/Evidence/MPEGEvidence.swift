/// Reads the picture and slice headers of MPEG-1 and MPEG-2 video (ISO/IEC 13818-2, 6.2).
struct MPEG2Evidence: EvidenceReader {
  private var order: DisplayOrderEvidence
  /// The number that `temporal_reference` 0 has.
  private var base = 0
  private var highest = -1
  private var lastTemporal: Int?
  /// The last row of slices that pictures have, by structure.
  private var rows: [Int: Int] = [:]
  /// MPEG-1's slices cross rows, so only the positions of earlier slices show a missing slice.
  private let crossesRows: Bool
  private var pattern = SlicePattern()
  /// Packets before the first intra picture; nil after it. A stream that is refreshed part by part
  /// has no such picture, or a late one, and becomes right without it.
  private var opening: [Int]? = []

  /// Longer than the distance of intra pictures.
  private static let openingMax = 600

  /// - Parameter crossesRows: The stream is MPEG-1.
  init(isInOrder: Bool, crossesRows: Bool) {
    order = DisplayOrderEvidence(step: 1, isInOrder: isInOrder)
    self.crossesRows = crossesRows
  }

  private struct Header {
    var temporal: Int
    var kind: DisplayOrderEvidence.Picture.Kind
    /// 1 and 2 for the two fields, 3 for a frame (6.3.10 `picture_structure`).
    var structure = 3
    var lastRow = 0
    var hasHole = false
    var slices: [Int] = []

    /// A picture has slices in all rows, in order; several may be in one row.
    mutating func take(row: Int) {
      slices.append(row)
      if row > lastRow + 1 { hasHole = true }
      lastRow = max(lastRow, row)
    }
  }

  mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    var evidence = read(packet)
    if let found = opening {
      opening = evidence.isRefresh || found.count >= Self.openingMax ? nil : found + [packet.index]
      if evidence.isRefresh {
        evidence.opening = found
        for place in found { evidence.damages[place] = .referenceMissing }
      }
    }
    return evidence
  }

  private mutating func read(_ packet: MediaPacket) -> PacketEvidence {
    var evidence = PacketEvidence()
    var header: Header?
    for code in packet.startCodeHeads(countMax: 8) {
      switch code.first ?? 0 {
      case 0x00:
        if let header { evidence.merge(finish(header)) }
        header = Self.picture(code)
      case 0x01...0xAF: header?.take(row: Int(code[0]))
      case 0xB5 where code.count > 3 && code[1] >> 4 == 8:
        header?.structure = Int(code[3] & 3)
      case 0xB8: (base, lastTemporal) = (highest + 1, nil)
      default: break
      }
    }
    if let header { evidence.merge(finish(header)) }
    return evidence
  }

  mutating func finish(packet: Int) -> [Int: StreamDamage?] {
    order.finish().map { [packet: $0] } ?? [:]
  }

  private static func picture(_ code: [UInt8]) -> Header? {
    var bits = BitReader(Array(code.dropFirst()))
    let temporal = Int(bits.read(10))
    switch bits.read(3) {
    case 1: return Header(temporal: temporal, kind: .intra)
    case 2: return Header(temporal: temporal, kind: .predicted)
    case 3: return Header(temporal: temporal, kind: .bidirectional)
    default: return nil
    }
  }

  private mutating func finish(_ header: Header) -> PacketEvidence {
    // The reference counts modulo 1,024 in a group of pictures.
    if let lastTemporal, lastTemporal - header.temporal > 512 { base += 1_024 }
    lastTemporal = header.temporal
    let number = base + header.temporal
    highest = max(highest, number)
    // Bidirectional pictures after the first intra picture refer to the picture before it.
    if header.kind == .intra, opening?.isEmpty == false { order.repeatLast() }
    let isCut = crossesRows ? !pattern.isWhole(header.slices) : isCut(header)
    return order.add(
      DisplayOrderEvidence.Picture(kind: header.kind, number: number, isCut: isCut))
  }

  private mutating func isCut(_ header: Header) -> Bool {
    let known = rows[header.structure] ?? 0
    rows[header.structure] = max(known, header.lastRow)
    return header.hasHole || header.lastRow < known
  }

  mutating func repeatLast(packet: Int) { order.repeatLast() }
}

/// Reads the picture headers of H.263 (ITU-T H.263, 5.1).
struct H263Evidence: EvidenceReader {
  private var order: LearnedOrderEvidence
  private var base = 0
  private var last: Int?
  private var hasIntra = false

  init(isInOrder: Bool) {
    order = LearnedOrderEvidence(isInOrder: isInOrder)
  }

  mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    var bits = BitReader(packet.withBytes { Array($0.prefix(16)) })
    guard let (temporal, kind) = Self.header(&bits), !bits.isOver else { return PacketEvidence() }
    if kind != .bidirectional {
      // The reference counts modulo 256.
      if let last, temporal < last { base += 256 }
      last = temporal
    }
    if kind == .intra { hasIntra = true }
    return order.add(
      DisplayOrderEvidence.Picture(
        kind: kind, number: base + temporal, lacksStart: !hasIntra),
      packet: packet.index)
  }

  mutating func finish(packet: Int) -> [Int: StreamDamage?] { order.finish() }

  mutating func repeatLast(packet: Int) { order.repeatLast(packet: packet) }

  private static func header(
    _ bits: inout BitReader
  ) -> (temporal: Int, kind: DisplayOrderEvidence.Picture.Kind)? {
    guard bits.read(22) == 0x20 else { return nil }
    let temporal = Int(bits.read(8))
    bits.skip(5)
    guard bits.read(3) == 7 else { return (temporal, bits.readFlag() ? .predicted : .intra) }
    if bits.read(3) == 1 { bits.skip(18) }
    switch bits.read(3) {
    case 0: return (temporal, .intra)
    case 1, 2: return (temporal, .predicted)
    case 3: return (temporal, .bidirectional)
    default: return nil
    }
  }
}
