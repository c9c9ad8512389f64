/// Finds lost pictures in AV1 by the order hints of the frames that are shown (AV1 bitstream, 5.9.2
/// and 7.20).
///
/// A picture that is lost leaves a hole in the order hints. Its header, which says whether later
/// pictures refer to it, is lost with it. It did no harm if its picture had been decoded before and
/// was only to be shown, or if all pictures of its place in the hierarchy were never kept.
struct AV1Evidence: EvidenceReader {
  private struct Slot: Sendable {
    var order: Int
    var damage: StreamDamage?
  }

  private var sequence: AV1Sequence?
  private var slots: [Slot?] = Array(repeating: nil, count: 8)
  /// Damage of every picture that refers to others, since a loss.
  private var loss: StreamDamage?
  /// Order hint of the last picture that was shown, and of the last key picture.
  private var shown: Int?
  private var key = 0
  private var order = PictureOrder(number: 0)
  private var steps = StepLearning(repeatsMin: 6)
  /// Whether pictures with an odd distance from the key picture are never kept, and how many there
  /// were.
  private var leaves: (count: Int, areKept: Bool) = (0, false)

  private static let leavesMin = 2
  private static let unitsMax = 256

  init(extradata: [UInt8]) {
    // AV1 codec ISO media file format binding, 2.3.3: four bytes, then units.
    guard extradata.first == 0x81 else { return }
    for unit in Self.units(Array(extradata.dropFirst(4))) where unit.kind == 1 {
      sequence = AV1Sequence(unit.bytes)
    }
  }

  mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    var evidence = PacketEvidence()
    for unit in Self.units(packet.bytes) {
      switch unit.kind {
      case 1: sequence = AV1Sequence(unit.bytes) ?? sequence
      case 3, 6:
        guard let sequence, let frame = AV1Frame(unit.bytes, sequence) else { continue }
        evidence.merge(judge(frame, bits: sequence.orderBits))
      default: break
      }
    }
    return evidence
  }

  mutating func repeatLast(packet: Int) { loss = .referenceMissing }

  private mutating func judge(_ frame: AV1Frame, bits: Int) -> PacketEvidence {
    if let slot = frame.existing { return show(slots[slot], slot: slot, bits: bits) }
    if frame.isKey, frame.isShown { (loss, leaves) = (nil, (0, false)) }
    if frame.isShown { follow(frame.order, bits: bits, isKey: frame.isKey) }
    let wrongSlots = frame.slotOrders.indices.contains { place in
      slots[place].map { $0.order != frame.slotOrders[place] } ?? false
    }
    if wrongSlots { loss = .referenceMissing }
    let inherited = frame.references.compactMap { slots[$0]?.damage }.first
    let damage = frame.isIntra ? nil : loss ?? inherited
    for place in slots.indices where frame.refreshes >> place & 1 == 1 {
      slots[place] = Slot(order: frame.order, damage: damage)
    }
    if frame.isKey, frame.isShown { key = frame.order }
    let range = 1 << bits
    if frame.isShown, !frame.isKey, (frame.order - key + range) % range % 2 == 1 {
      leaves = (leaves.count + 1, leaves.areKept || frame.refreshes != 0)
    }
    guard frame.isShown else { return PacketEvidence() }
    var evidence = PacketEvidence(damage: damage, isRefresh: frame.isKey)
    evidence.order = order
    return evidence
  }

  private mutating func show(_ slot: Slot?, slot place: Int, bits: Int) -> PacketEvidence {
    guard let slot else { return PacketEvidence() }
    follow(slot.order, bits: bits, isKey: false)
    var evidence = PacketEvidence(damage: slot.damage)
    evidence.order = order
    return evidence
  }

  /// Checks that the picture follows the last one that was shown.
  private mutating func follow(_ order: Int, bits: Int, isKey: Bool) {
    defer { shown = order }
    if isKey { self.order = PictureOrder(epoch: self.order.epoch + 1, number: order) }
    guard bits > 0, let last = shown, !isKey else { return }
    let range = 1 << bits
    let distance = (order - last + range) % range
    self.order.number += distance < range / 2 ? distance : distance - range
    defer { steps.add(distance) }
    guard steps.step == 1, distance > 1, distance < range / 2 else { return }
    let lost = (1..<distance).map { (last + $0) % range }
    if !lost.allSatisfy({ isHarmless($0, range: range) }) { loss = .referenceMissing }
  }

  private func isHarmless(_ order: Int, range: Int) -> Bool {
    if slots.contains(where: { $0?.order == order }) { return true }
    let isLeaf = (order - key + range) % range % 2 == 1
    return isLeaf && leaves.count >= Self.leavesMin && !leaves.areKept
  }

  /// The open bitstream units (5.3), which have a size.
  private static func units(_ bytes: [UInt8]) -> [(kind: Int, bytes: [UInt8])] {
    var units: [(kind: Int, bytes: [UInt8])] = []
    var place = 0
    while place < bytes.count, units.count < unitsMax {
      let header = bytes[place]
      // Spatial and temporal layers have order hints of their own.
      let hasExtension = header & 4 != 0
      place += hasExtension ? 2 : 1
      guard header & 2 != 0 else { return units }
      var (size, shift) = (0, 0)
      while place < bytes.count, shift < 35 {
        let byte = bytes[place]
        place += 1
        size |= Int(byte & 0x7F) << shift
        shift += 7
        if byte & 0x80 == 0 { break }
      }
      let end = min(bytes.count, place + size)
      guard end >= place else { return units }
      if !hasExtension {
        units.append((Int(header >> 3 & 15), Array(bytes[place..<min(end, place + headBytes)])))
      }
      place = end
    }
    return units
  }

  private static let headBytes = 64
}

/// The fields of a sequence header that are needed to read frame headers (5.5.1).
struct AV1Sequence: Hashable, Sendable {
  var orderBits = 0
  var isReduced: Bool
  var frameIDBits = 0
  var deltaIDBits = 0
  /// 2 if each frame says it.
  var screenTools = 2
  var integerMotion = 2

  /// - Returns: nil also for a stream with a decoder model, whose frame headers have other fields.
  init?(_ bytes: [UInt8]) {
    var bits = BitReader(bytes)
    bits.skip(4)
    isReduced = bits.readFlag()
    if isReduced {
      bits.skip(5)
    } else {
      guard Self.skipPoints(&bits) else { return nil }
    }
    let (widthBits, heightBits) = (Int(bits.read(4)) + 1, Int(bits.read(4)) + 1)
    bits.skip(widthBits + heightBits)
    if !isReduced, bits.readFlag() {
      deltaIDBits = Int(bits.read(4)) + 2
      frameIDBits = deltaIDBits + Int(bits.read(3)) + 1
    }
    bits.skip(3)
    if !isReduced { readTools(&bits) }
    guard !bits.isOver else { return nil }
  }

  private static func skipPoints(_ bits: inout BitReader) -> Bool {
    if bits.readFlag() {
      bits.skip(64)
      if bits.readFlag() { _ = bits.readExponential() }
      if bits.readFlag() { return false }
    }
    let hasDelay = bits.readFlag()
    for _ in 0...bits.read(5) {
      bits.skip(12)
      if bits.read(5) > 7 { bits.skip(1) }
      if hasDelay, bits.readFlag() { bits.skip(4) }
    }
    return true
  }

  private mutating func readTools(_ bits: inout BitReader) {
    bits.skip(4)
    let hasOrder = bits.readFlag()
    if hasOrder { bits.skip(2) }
    screenTools = bits.readFlag() ? 2 : Int(bits.read(1))
    if screenTools > 0 { integerMotion = bits.readFlag() ? 2 : Int(bits.read(1)) }
    if hasOrder { orderBits = Int(bits.read(3)) + 1 }
  }
}

/// The first fields of a frame header (5.9.2).
struct AV1Frame: Hashable, Sendable {
  /// The slot that is shown again; the other fields have no meaning then.
  var existing: Int?
  var isKey = false
  var isIntra = false
  var isShown = true
  var order = 0
  var refreshes = 0xFF
  var references: [Int] = []
  /// Order hints that the slots should have; empty if the frame does not say it.
  var slotOrders: [Int] = []

  init?(_ bytes: [UInt8], _ sequence: AV1Sequence) {
    guard !sequence.isReduced else {
      (isKey, isIntra) = (true, true)
      return
    }
    var bits = BitReader(bytes)
    if bits.readFlag() {
      existing = Int(bits.read(3))
      return
    }
    let kind = bits.read(2)
    isShown = bits.readFlag()
    (isKey, isIntra) = (kind == 0, kind == 0 || kind == 2)
    if !isShown { bits.skip(1) }
    let isResilient = kind == 3 || (isKey && isShown) || bits.readFlag()
    bits.skip(1)
    let hasScreenTools = sequence.screenTools == 2 ? bits.readFlag() : sequence.screenTools == 1
    if hasScreenTools, sequence.integerMotion == 2 { bits.skip(1) }
    bits.skip(sequence.frameIDBits)
    if kind != 3 { bits.skip(1) }
    order = Int(bits.read(sequence.orderBits))
    if !isIntra, !isResilient { bits.skip(3) }
    if kind != 3, !(isKey && isShown) { refreshes = Int(bits.read(8)) }
    if !isIntra || refreshes != 0xFF, isResilient, sequence.orderBits > 0 {
      slotOrders = (0..<8).map { _ in Int(bits.read(sequence.orderBits)) }
    }
    if !isIntra { readReferences(&bits, sequence) }
    guard !bits.isOver else { return nil }
  }

  private mutating func readReferences(_ bits: inout BitReader, _ sequence: AV1Sequence) {
    // With the short form, the other references follow from the order hints.
    let isShort = sequence.orderBits > 0 && bits.readFlag()
    for _ in 0..<(isShort ? 2 : 7) {
      references.append(Int(bits.read(3)))
      if !isShort { bits.skip(sequence.deltaIDBits) }
    }
  }
}
