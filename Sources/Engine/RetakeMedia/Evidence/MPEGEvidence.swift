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

/// Reads the headers of MPEG-4 Part 2 video (ISO/IEC 14496-2, 6.2).
struct MPEG4Evidence: EvidenceReader {
  private var order: LearnedOrderEvidence
  /// Ticks of a second, and number of bits of a tick's number; 0 until the layer's header is there.
  private var resolution = 0
  private var tickBits = 0
  private var seconds = 0
  private var earlierSeconds = 0

  init(extradata: [UInt8], isInOrder: Bool) {
    order = LearnedOrderEvidence(isInOrder: isInOrder)
    for unit in AnnexB.units(extradata) { take(Array(unit.prefix(Self.headBytes))) }
  }

  private static let headBytes = 64

  mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    var evidence = PacketEvidence()
    for code in packet.startCodeHeads(countMax: Self.headBytes) {
      if let picture = take(code) { evidence.merge(order.add(picture, packet: packet.index)) }
    }
    return evidence
  }

  mutating func finish(packet: Int) -> [Int: StreamDamage?] { order.finish() }

  mutating func repeatLast(packet: Int) { order.repeatLast(packet: packet) }

  @discardableResult
  private mutating func take(_ code: [UInt8]) -> DisplayOrderEvidence.Picture? {
    switch code.first ?? 0 {
    case 0x20...0x2F: takeLayer(code)
    case 0xB3: takeGroup(code)
    case 0xB6: return picture(code)
    default: break
    }
    return nil
  }

  private mutating func takeLayer(_ code: [UInt8]) {
    var bits = BitReader(Array(code.dropFirst()))
    bits.skip(9)
    var version: UInt32 = 1
    if bits.readFlag() {
      version = bits.read(4)
      bits.skip(3)
    }
    if bits.read(4) == 15 { bits.skip(16) }
    if bits.readFlag() {
      bits.skip(3)
      if bits.readFlag() { bits.skip(79) }
    }
    let shape = bits.read(2)
    if shape == 3, version != 1 { bits.skip(4) }
    bits.skip(1)
    resolution = Int(bits.read(16))
    tickBits = resolution > 1 ? Int.bitWidth - (resolution - 1).leadingZeroBitCount : 1
    if bits.isOver { resolution = 0 }
  }

  private mutating func takeGroup(_ code: [UInt8]) {
    var bits = BitReader(Array(code.dropFirst()))
    let (hours, minutes) = (Int(bits.read(5)), Int(bits.read(6)))
    bits.skip(1)
    seconds = (hours * 60 + minutes) * 60 + Int(bits.read(6))
  }

  private mutating func picture(_ code: [UInt8]) -> DisplayOrderEvidence.Picture? {
    guard resolution > 0 else { return nil }
    var bits = BitReader(Array(code.dropFirst()))
    let kind = bits.read(2)
    var whole = 0
    while !bits.isOver, bits.readFlag() { whole += 1 }
    bits.skip(1)
    let ticks = Int(bits.read(tickBits))
    bits.skip(1)
    let isCoded = bits.readFlag()
    guard !bits.isOver else { return nil }
    if kind != 2 { (earlierSeconds, seconds) = (seconds, seconds + whole) }
    let number = (kind == 2 ? earlierSeconds + whole : seconds) * resolution + ticks
    // A picture that is not coded repeats the picture before it.
    guard isCoded else { return nil }
    return DisplayOrderEvidence.Picture(
      kind: kind == 0 ? .intra : kind == 2 ? .bidirectional : .predicted, number: number)
  }
}

/// Reads the picture headers of H.263 (ITU-T H.263, 5.1).
struct H263Evidence: EvidenceReader {
  private var order: LearnedOrderEvidence
  private var base = 0
  private var last: Int?

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
    return order.add(
      DisplayOrderEvidence.Picture(kind: kind, number: base + temporal), packet: packet.index)
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
