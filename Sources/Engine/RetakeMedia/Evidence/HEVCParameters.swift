/// The fields of HEVC's sequence parameter set that are needed to read slice headers (ITU-T H.265,
/// 7.3.2.2).
struct HEVCSequence: Sendable {
  var id: UInt32
  var orderBits: Int
  /// Number of coding tree blocks of a picture.
  var blockCount: Int
  var hasSeparatePlanes = false
  var referenceSets: [HEVCReferenceSet] = []
  var hasLongTerm = false
  /// Order counts (lowest bits) of long-term references, and whether the picture itself uses them.
  var longTerm: [(order: Int, isUsed: Bool)] = []

  /// - Parameter unit: With its header of two bytes.
  init?(_ unit: [UInt8]) {
    var bits = BitReader(Array(unit.dropFirst(2)))
    bits.skip(4)
    let layers = bits.read(3)
    bits.skip(1)
    Self.skipProfile(layers: layers, &bits)
    id = bits.readExponential()
    if bits.readExponential() == 3 { hasSeparatePlanes = bits.readFlag() }
    let (width, height) = (Int(bits.readExponential()), Int(bits.readExponential()))
    if bits.readFlag() { for _ in 0..<4 { _ = bits.readExponential() } }
    (_, _) = (bits.readExponential(), bits.readExponential())
    orderBits = Int(bits.readExponential()) + 4
    for _ in (bits.readFlag() ? 0 : layers)...layers {
      for _ in 0..<3 { _ = bits.readExponential() }
    }
    let blockBits = Int(bits.readExponential()) + 3 + Int(bits.readExponential())
    for _ in 0..<4 { _ = bits.readExponential() }
    guard !bits.isOver, id < 16, orderBits <= 16, (3...6).contains(blockBits), width <= 1 << 16,
      height <= 1 << 16
    else { return nil }
    let side = 1 << blockBits
    blockCount = ((width + side - 1) / side) * ((height + side - 1) / side)
    if bits.readFlag(), bits.readFlag() { Self.skipScaling(&bits) }
    bits.skip(2)
    if bits.readFlag() {
      bits.skip(8)
      (_, _) = (bits.readExponential(), bits.readExponential())
      bits.skip(1)
    }
    guard readReferences(&bits) else { return nil }
  }

  private mutating func readReferences(_ bits: inout BitReader) -> Bool {
    let count = bits.readExponential()
    guard count <= 64 else { return false }
    for number in 0..<Int(count) {
      guard let set = HEVCReferenceSet(&bits, number: number, count: Int(count), of: referenceSets)
      else { return false }
      referenceSets.append(set)
    }
    hasLongTerm = bits.readFlag()
    if hasLongTerm {
      let count = bits.readExponential()
      guard count <= 32 else { return false }
      for _ in 0..<count { longTerm.append((Int(bits.read(orderBits)), bits.readFlag())) }
    }
    return !bits.isOver
  }

  /// ITU-T H.265, 7.3.3.
  private static func skipProfile(layers: UInt32, _ bits: inout BitReader) {
    bits.skip(96)
    guard layers > 0 else { return }
    // If there are sub-layers, there are always eight pairs of flags.
    let flags = (0..<8).map { _ in bits.read(2) }
    for flag in flags.prefix(Int(layers)) {
      bits.skip((flag & 2 != 0 ? 88 : 0) + (flag & 1 != 0 ? 8 : 0))
    }
  }

  /// ITU-T H.265, 7.3.4.
  private static func skipScaling(_ bits: inout BitReader) {
    for size in 0..<4 {
      for _ in stride(from: 0, to: 6, by: size == 3 ? 3 : 1) {
        guard bits.readFlag() else {
          _ = bits.readExponential()
          continue
        }
        if size > 1 { _ = bits.readSignedExponential() }
        for _ in 0..<min(64, 1 << (4 + (size << 1))) { _ = bits.readSignedExponential() }
      }
    }
  }
}

/// A short-term reference picture set (ITU-T H.265, 7.3.7 and 7.4.8): distances in order counts,
/// and whether the picture itself uses the reference or only keeps it for later pictures.
struct HEVCReferenceSet: Hashable, Sendable {
  struct Entry: Hashable, Sendable {
    var distance: Int
    var isUsed: Bool
  }

  var entries: [Entry] = []

  private static let countMax = 16

  /// - Parameters:
  ///   - number: Its index; `count` for the set of a slice header.
  ///   - count: Number of sets of the sequence.
  init?(_ bits: inout BitReader, number: Int, count: Int, of sets: [HEVCReferenceSet]) {
    if number > 0, bits.readFlag() {
      let back = number == count ? Int(bits.readExponential()) + 1 : 1
      let isNegative = bits.readFlag()
      let size = Int(bits.readExponential()) + 1
      guard back <= number, sets.indices.contains(number - back), size <= 1 << 15 else {
        return nil
      }
      derive(&bits, from: sets[number - back], by: isNegative ? -size : size)
    } else {
      let (before, after) = (Int(bits.readExponential()), Int(bits.readExponential()))
      guard before <= Self.countMax, after <= Self.countMax else { return nil }
      for (count, sign) in [(before, -1), (after, 1)] {
        var distance = 0
        for _ in 0..<count {
          distance += sign * (Int(bits.readExponential()) + 1)
          entries.append(Entry(distance: distance, isUsed: bits.readFlag()))
        }
      }
    }
    guard !bits.isOver, entries.count <= Self.countMax else { return nil }
  }

  /// Equations 7-61 and 7-62. The reference itself comes last, as a distance of 0.
  private mutating func derive(
    _ bits: inout BitReader, from reference: HEVCReferenceSet, by delta: Int
  ) {
    var flags: [(isUsed: Bool, isKept: Bool)] = []
    for _ in 0...reference.entries.count {
      let isUsed = bits.readFlag()
      flags.append((isUsed, isUsed || bits.readFlag()))
    }
    let distances = reference.entries.map(\.distance) + [0]
    var derived: [Entry] = []
    for (distance, flag) in zip(distances, flags) where flag.isKept && distance + delta != 0 {
      derived.append(Entry(distance: distance + delta, isUsed: flag.isUsed))
    }
    // The order of a set: the nearest first, pictures before the current picture, then pictures
    // after it.
    entries =
      derived.filter { $0.distance < 0 }.sorted { $0.distance > $1.distance }
      + derived.filter { $0.distance > 0 }.sorted { $0.distance < $1.distance }
  }
}

/// The fields of HEVC's picture parameter set before its quantization (ITU-T H.265, 7.3.2.3).
struct HEVCPicture: Hashable, Sendable {
  var id: UInt32
  var sequence: UInt32
  var hasDependentSlices: Bool
  var hasOutputFlag: Bool
  var extraBits: Int

  init?(_ unit: [UInt8]) {
    var bits = BitReader(Array(unit.dropFirst(2)))
    (id, sequence) = (bits.readExponential(), bits.readExponential())
    hasDependentSlices = bits.readFlag()
    hasOutputFlag = bits.readFlag()
    extraBits = Int(bits.read(3))
    guard !bits.isOver, id < 64, sequence < 16 else { return nil }
  }
}

/// The fields of a slice segment header (ITU-T H.265, 7.3.6.1) that show the position of the slice
/// and its references.
struct HEVCSlice: Sendable {
  var isFirst: Bool
  var address = 0
  /// A dependent segment has no values for the following fields.
  var isDependent = false
  var isIntra = false
  /// The lowest bits of the order count; 0 for an IDR picture.
  var order = 0
  var orderBits: Int
  var references: [HEVCReferenceSet.Entry] = []
  /// Order counts of long-term references: their lowest bits, and the cycles if they are known.
  var longTerm: [LongTerm] = []

  struct LongTerm: Sendable {
    var order: Int
    var isUsed: Bool
    /// Multiples of the lowest bits' range between the picture and the reference.
    var cycles: Int?
  }

  init?(
    _ unit: [UInt8], kind: Int, sequences: [UInt32: HEVCSequence], pictures: [UInt32: HEVCPicture]
  ) {
    var bits = BitReader(Array(unit.dropFirst(2)))
    isFirst = bits.readFlag()
    if (16...23).contains(kind) { bits.skip(1) }
    guard let picture = pictures[bits.readExponential()],
      let sequence = sequences[picture.sequence]
    else { return nil }
    orderBits = sequence.orderBits
    if !isFirst {
      isDependent = picture.hasDependentSlices && bits.readFlag()
      address = Int(bits.read(Self.bitCount(of: sequence.blockCount)))
    }
    guard !isDependent else { return }
    bits.skip(picture.extraBits)
    isIntra = bits.readExponential() == 2
    if picture.hasOutputFlag { bits.skip(1) }
    if sequence.hasSeparatePlanes { bits.skip(2) }
    if kind != 19, kind != 20 {
      order = Int(bits.read(sequence.orderBits))
      guard readReferences(&bits, sequence) else { return nil }
    }
    guard !bits.isOver else { return nil }
  }

  private mutating func readReferences(_ bits: inout BitReader, _ sequence: HEVCSequence) -> Bool {
    let sets = sequence.referenceSets
    if bits.readFlag() {
      let number = sets.count > 1 ? Int(bits.read(Self.bitCount(of: sets.count))) : 0
      guard sets.indices.contains(number) else { return false }
      references = sets[number].entries
    } else {
      guard let set = HEVCReferenceSet(&bits, number: sets.count, count: sets.count, of: sets)
      else { return false }
      references = set.entries
    }
    return !sequence.hasLongTerm || readLongTerm(&bits, sequence)
  }

  private mutating func readLongTerm(_ bits: inout BitReader, _ sequence: HEVCSequence) -> Bool {
    let stored = sequence.longTerm
    let fromSequence = stored.isEmpty ? 0 : Int(bits.readExponential())
    let count = fromSequence + Int(bits.readExponential())
    guard count <= 32 else { return false }
    var cycles = 0
    for number in 0..<count {
      var reference: LongTerm
      if number < fromSequence {
        let place = stored.count > 1 ? Int(bits.read(Self.bitCount(of: stored.count))) : 0
        guard stored.indices.contains(place) else { return false }
        reference = LongTerm(order: stored[place].order, isUsed: stored[place].isUsed)
      } else {
        reference = LongTerm(order: Int(bits.read(orderBits)), isUsed: bits.readFlag())
      }
      // Equation 7-52: each count is relative to the count before it, in both groups.
      if number == fromSequence { cycles = 0 }
      if bits.readFlag() {
        cycles += Int(bits.readExponential())
        reference.cycles = cycles
      }
      longTerm.append(reference)
    }
    return true
  }

  /// Number of bits of numbers below `count`.
  private static func bitCount(of count: Int) -> Int {
    count <= 1 ? 0 : Int.bitWidth - (count - 1).leadingZeroBitCount
  }
}
