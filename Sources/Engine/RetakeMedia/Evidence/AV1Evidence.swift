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
    var isKey = false
    var isShown = false
    /// Whether a picture that was lost may have replaced the slot's.
    var isUnsure = false

    var reach: StreamDamage? { damage ?? (isUnsure ? .referenceMissing : nil) }
  }

  private var sequence: AV1Sequence?
  private var slots: [Slot?] = Array(repeating: nil, count: 8)
  /// The slots that the last packet has replaced, one bit each.
  private var replaced = 0
  /// Order hint of the last picture that was shown, and of the last key picture.
  private var shown: Int?
  private var key = 0
  /// Whether the last key picture is two further than the picture that was shown before it.
  private var keyLeaps = false
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
    var (hasHiddenKey, hasSequence) = (false, false)
    replaced = 0
    for unit in Self.units(packet.bytes) {
      switch unit.kind {
      case 1:
        sequence = AV1Sequence(unit.bytes) ?? sequence
        hasSequence = true
      case 3, 6:
        guard let sequence, let frame = AV1Frame(unit.bytes, sequence) else { continue }
        hasHiddenKey = hasHiddenKey || (frame.isKey && !frame.isShown)
        evidence.merge(judge(frame, range: 1 << sequence.orderBits))
      default: break
      }
    }
    // It may begin a new count, so that two such packets can be equal.
    if hasHiddenKey { evidence.order = nil }
    // 7.6.2: decoding begins at a sequence header and a key picture that is shown.
    evidence.isRestart = evidence.isRestart && hasSequence
    return evidence
  }

  mutating func repeatLast(packet: Int) {
    for (place, slot) in slots.enumerated() where replaced >> place & 1 == 1 {
      slots[place]?.damage = slot?.damage ?? .referenceMissing
    }
  }

  private mutating func judge(_ frame: AV1Frame, range: Int) -> PacketEvidence {
    if let slot = frame.existing { return show(slot, range: range) }
    let isRefresh = frame.isKey && frame.isShown
    let isMisplaced = isRefresh && isNotAfterLast(frame.order, range: range)
    if isRefresh {
      (key, leaves) = (frame.order, (0, false))
      keyLeaps = steps.step == 1 && distance(to: frame.order, range: range) == 2
    }
    if frame.isShown { follow(frame.order, range: range, isKey: frame.isKey) }
    compareSlots(with: frame)
    let damage =
      frame.isIntra ? nil : frame.references.compactMap { slots[$0].flatMap(\.reach) }.first
    for place in slots.indices where frame.refreshes >> place & 1 == 1 {
      slots[place] = Slot(
        order: frame.order, damage: damage, isKey: frame.isKey, isShown: frame.isShown)
    }
    replaced |= frame.refreshes
    guard frame.isShown else { return PacketEvidence() }
    if !frame.isKey, (frame.order - key + range) % range % 2 == 1 {
      leaves = (leaves.count + 1, leaves.areKept || frame.refreshes != 0)
    }
    var evidence = PacketEvidence(
      damage: damage ?? (isMisplaced ? .misplaced : nil), isRefresh: isRefresh)
    evidence.order = order
    evidence.isRestart = isRefresh
    return evidence
  }

  /// Whether a key picture is there twice or after its successor; 0 may begin a new count.
  private func isNotAfterLast(_ order: Int, range: Int) -> Bool {
    guard order != 0, let distance = distance(to: order, range: range) else { return false }
    return distance == 0 || distance == range - 1
  }

  /// From the last picture that was shown, modulo the range.
  private func distance(to order: Int, range: Int) -> Int? {
    shown.map { (order - $0 + range) % range }
  }

  /// A frame that can be decoded after a loss says which picture each slot should hold.
  private mutating func compareSlots(with frame: AV1Frame) {
    for (place, order) in frame.slotOrders.enumerated() {
      guard let slot = slots[place] else { continue }
      if slot.order == order {
        slots[place]?.isUnsure = false
      } else {
        slots[place] = Slot(order: order, damage: .referenceMissing)
      }
    }
  }

  private mutating func show(_ place: Int, range: Int) -> PacketEvidence {
    guard let slot = slots[place] else { return PacketEvidence() }
    let distance = distance(to: slot.order, range: range) ?? 0
    let isLate = distance > 0 && distance >= range / 2
    // A key picture is not shown twice (6.8.2), and no picture again after a later one.
    if slot.isShown, slot.isKey || isLate {
      lose()
      return PacketEvidence(
        damage: .referenceMissing,
        damageBefore: slot.isKey && distance == 0 && keyLeaps ? .misplaced : nil)
    }
    if distance == 1 { slots[place]?.isUnsure = false }
    follow(slot.order, range: range, isKey: slot.isKey)
    slots[place]?.isShown = true
    let late: StreamDamage? = isLate && steps.step == 1 ? .misplaced : nil
    var evidence = PacketEvidence(damage: slots[place].flatMap(\.reach) ?? late)
    evidence.order = order
    if slot.isKey {
      // 7.21: A key picture that is shown later replaces all others then.
      slots = Array(repeating: slots[place], count: slots.count)
      (key, leaves) = (slot.order, (0, false))
    }
    return evidence
  }

  private mutating func lose() {
    for place in slots.indices { slots[place]?.isUnsure = true }
  }

  /// Checks that the picture follows the picture that was shown last.
  private mutating func follow(_ order: Int, range: Int, isKey: Bool) {
    defer { shown = order }
    if isKey { self.order = PictureOrder(epoch: self.order.epoch + 1, number: order) }
    guard range > 1, let last = shown, !isKey, let distance = distance(to: order, range: range)
    else { return }
    self.order.number += distance < range / 2 ? distance : distance - range
    defer { steps.add(distance) }
    guard steps.step == 1, distance > 1, distance < range / 2 else { return }
    let lost = (1..<distance).map { (last + $0) % range }
    if !lost.allSatisfy({ isHarmless($0, range: range) }) { lose() }
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
    // The short form names two slots; which the others are follows from the order hints.
    let isShort = sequence.orderBits > 0 && bits.readFlag()
    guard !isShort else {
      references = Array(0..<8)
      return
    }
    for _ in 0..<7 {
      references.append(Int(bits.read(3)))
      bits.skip(sequence.deltaIDBits)
    }
  }
}
