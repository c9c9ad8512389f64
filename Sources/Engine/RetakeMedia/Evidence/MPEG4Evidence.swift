/// Reads the headers of MPEG-4 Part 2 video (ISO/IEC 14496-2, 6.2).
///
/// In a packed stream (DivX, Xvid) the packet of a reference picture also has the bidirectional
/// picture that follows it. The decoder holds the second picture until the next packet, and then
/// decodes it instead of this packet, which only has a placeholder: a picture that is not coded. If
/// the placeholder is lost, the decoder drops the next packet instead.
struct MPEG4Evidence: EvidenceReader {
  private var order: LearnedOrderEvidence
  /// Ticks of a second, and number of bits of a tick's number; 0 until the layer's header is there.
  private var resolution = 0
  private var tickBits = 0
  private var seconds = 0
  private var earlierSeconds = 0
  private var isPacked = false
  /// Whether the decoder has decoded an intra picture.
  private var hasIntra = false
  /// The studio profile's pictures have other headers.
  private var isStudio = false
  /// Heads of the units that the decoder holds until the next packet.
  private var held: [[UInt8]] = []

  init(extradata: [UInt8], isInOrder: Bool) {
    order = LearnedOrderEvidence(isInOrder: isInOrder)
    for unit in AnnexB.units(extradata) { take(Array(unit.prefix(Self.headBytes))) }
  }

  private static let headBytes = 64
  private static let startCodePrefix: [UInt8] = [0, 0, 1]

  mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    let codes = packet.startCodeHeads(countMax: Self.headBytes)
    // The decoder drops the held picture at the start of a sequence (0xB0).
    let isDue = !held.isEmpty && codes.first?.first != 0xB0
    let due = held
    held = []
    guard isDue else { return addCodes(codes, packet: packet.index) }
    var evidence = PacketEvidence()
    if let number = due.firstIndex(where: Self.isPicture) {
      for code in due[..<number] { take(code) }
      if let picture = take(due[number])?.coded {
        evidence.merge(order.add(picture, packet: packet.index))
      }
    }
    if Self.isHeld(codes) { held = codes } else { drop(codes, packet: packet.index) }
    return Self.packed(evidence)
  }

  private mutating func addCodes(_ codes: [[UInt8]], packet: Int) -> PacketEvidence {
    var evidence = PacketEvidence()
    for (place, code) in codes.enumerated() {
      guard let shown = take(code) else {
        if let early = early(code) { evidence.merge(early) }
        continue
      }
      guard let picture = shown.coded else {
        order.addPlaceholder(number: shown.number)
        if isPacked { return evidence }
        continue
      }
      let rest = Array(codes[(place + 1)...])
      if isPacked, Self.isHeld(rest) { held = rest }
      evidence.merge(order.add(picture, packet: packet, companion: companion))
      if isPacked { return Self.packed(evidence) }
    }
    return evidence
  }

  /// Of a picture before the first header of a layer, only the kind can be read.
  private mutating func early(_ code: [UInt8]) -> PacketEvidence? {
    guard resolution == 0, !isStudio, Self.isPicture(code), code.count > 1 else { return nil }
    if code[1] >> 6 == 0 { hasIntra = true }
    return hasIntra ? nil : .withoutStart
  }

  /// The packet of a placeholder is needed for the picture that is held.
  private static func packed(_ evidence: PacketEvidence) -> PacketEvidence {
    var evidence = evidence
    evidence.isDisposable = false
    return evidence
  }

  /// Reads the times of pictures that the decoder does not decode.
  private mutating func drop(_ codes: [[UInt8]], packet: Int) {
    let hadIntra = hasIntra
    defer { hasIntra = hadIntra }
    for code in codes {
      guard let shown = take(code), let picture = shown.coded else { continue }
      if picture.kind != .bidirectional { order.loseReference(packet: packet) }
    }
  }

  /// The number of the bidirectional picture that is held.
  private var companion: Int? {
    guard let code = held.first(where: Self.isPicture) else { return nil }
    var other = self
    guard let picture = other.take(code)?.coded, picture.kind == .bidirectional else { return nil }
    return picture.number
  }

  private static func isPicture(_ code: [UInt8]) -> Bool { code.first == 0xB6 }

  /// FFmpeg's decoder holds units whose first picture is intra or bidirectional, and drops others,
  /// and units of up to seven bytes: a placeholder of an intra picture.
  private static func isHeld(_ codes: [[UInt8]]) -> Bool {
    guard let first = codes.first, let code = codes.first(where: isPicture), code.count > 1
    else { return false }
    let isLonger = first.count + startCodePrefix.count > 7
    return isLonger && code[1] & 0x40 == 0
  }

  mutating func finish(packet: Int) -> [Int: StreamDamage?] { order.finish() }

  var isUndecided: Bool { order.isUndecided }

  mutating func repeatLast(packet: Int) { order.repeatLast(packet: packet) }

  private struct Shown {
    var number: Int
    /// nil for a picture that is not coded, which repeats the picture before it.
    var coded: DisplayOrderEvidence.Picture?
  }

  @discardableResult
  private mutating func take(_ code: [UInt8]) -> Shown? {
    switch code.first ?? 0 {
    case 0x20...0x2F: takeLayer(code)
    // Table G.1: the levels of the simple studio profile.
    case 0xB0: isStudio = code.count > 1 && (0xE1...0xE8).contains(code[1])
    case 0xB2: takeUserData(code.dropFirst())
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
    bits.skip(1)
    order.isFixed = bits.readFlag()
    if bits.isOver { (resolution, order.isFixed) = (0, false) }
  }

  /// `DivX503b1393p` or `DivX501Build413p`: encoders of packed streams add the `p`.
  private mutating func takeUserData(_ text: ArraySlice<UInt8>) {
    func afterDigits(_ text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
      let rest = text.drop { (0x30...0x39).contains($0) }
      return rest.count < text.count ? rest : nil
    }
    guard text.starts(with: "DivX".utf8), let name = afterDigits(text.dropFirst(4)) else { return }
    for word in ["Build", "b"] where name.starts(with: word.utf8) {
      guard let rest = afterDigits(name.dropFirst(word.utf8.count)) else { continue }
      isPacked = rest.first == UInt8(ascii: "p")
      order.isPacked = isPacked
    }
  }

  private mutating func takeGroup(_ code: [UInt8]) {
    var bits = BitReader(Array(code.dropFirst()))
    let (hours, minutes) = (Int(bits.read(5)), Int(bits.read(6)))
    bits.skip(1)
    seconds = (hours * 60 + minutes) * 60 + Int(bits.read(6))
  }

  private mutating func picture(_ code: [UInt8]) -> Shown? {
    guard resolution > 0, !isStudio else { return nil }
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
    guard isCoded else { return Shown(number: number) }
    if kind == 0 { hasIntra = true }
    return Shown(
      number: number,
      coded: DisplayOrderEvidence.Picture(
        kind: kind == 0 ? .intra : kind == 2 ? .bidirectional : .predicted, number: number,
        lacksStart: !hasIntra))
  }
}
