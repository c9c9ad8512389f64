/// Finds lost pictures in HEVC by the reference picture sets (ITU-T H.265, 8.3.2), and lost slices
/// by their addresses.
///
/// Each picture names all pictures that it or a later picture may refer to. So a missing reference
/// is certain, and its reach is exactly the pictures that use it, directly or through others.
struct HEVCEvidence: EvidenceReader {
  private let lengthSize: Int?
  private var parameterSets: ParameterSetHistory
  private var sequences: [UInt32: HEVCSequence] = [:]
  private var pictures: [UInt32: HEVCPicture] = [:]
  /// The pictures that are kept for reference, by order count, and their damage.
  private var kept: [Int: StreamDamage?] = [:]
  /// The order count from which the next order count is derived (`prevTid0Pic`).
  private var previous = 0
  private var epoch = 0
  /// Whether a picture that decoding can begin with was there.
  private var hasBegun = false
  /// Whether leading pictures of the last random access point are skipped by decoders.
  private var skipsLeading = false
  private var endsSequence = false
  private var highestLayer = 0
  /// Of the last random access point.
  private var accessOrder = 0
  private var pattern = SlicePattern()

  /// Number of bytes of a unit that are read; sequence sets with scaling lists are the longest.
  private static let headBytes = 1_024

  init(extradata: [UInt8]) {
    // ISO/IEC 14496-15, 8.3.3.1.
    let hasLengths = extradata.first == 1 && extradata.count > 22
    lengthSize = hasLengths ? Int(extradata[21] & 3) + 1 : nil
    let sets = Self.sets(extradata, hasLengths: hasLengths)
    parameterSets = ParameterSetHistory(known: sets)
    for set in sets { take(set: set) }
  }

  mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    var slices: [HEVCSlice] = []
    var (kind, layer) = (0, 0)
    var sets: Set<[UInt8]> = []
    for unit in packet.unitHeads(lengthSize: lengthSize, countMax: Self.headBytes)
    where unit.bytes.count > 2 {
      let type = Int(unit.bytes[0] >> 1) & 0x3F
      // Other layers, as of stereo video, have pictures of their own.
      guard unit.bytes[0] & 1 == 0, unit.bytes[1] >> 3 == 0 else { continue }
      switch type {
      case 0...9, 16...21:
        (kind, layer) = (type, Int(unit.bytes[1] & 7) - 1)
        HEVCSlice(unit.bytes, kind: type, sequences: sequences, pictures: pictures)
          .map { slices.append($0) }
      case 32...34:
        take(set: unit.bytes)
        sets.insert(unit.bytes)
      case 36, 37: endsSequence = true
      default: break
      }
    }
    let hasSets = parameterSets.repeatsAll(sets)
    guard let first = slices.first(where: { !$0.isDependent }) else { return PacketEvidence() }
    var evidence = judge(first, kind: kind, layer: layer, slices: slices)
    // Table 7-1: an instantaneous decoding refresh.
    evidence.isRestart = (kind == 19 || kind == 20) && hasSets
    return evidence
  }

  private mutating func judge(
    _ slice: HEVCSlice, kind: Int, layer: Int, slices: [HEVCSlice]
  ) -> PacketEvidence {
    let isRandomAccess = (16...23).contains(kind)
    guard hasBegun || isRandomAccess else { return PacketEvidence() }
    let restarts = isRandomAccess && (kind <= 20 || !hasBegun || endsSequence)
    if isRandomAccess { skipsLeading = restarts }
    let isSkipped = skipsLeading && (kind == 8 || kind == 9)
    (hasBegun, endsSequence) = (true, endsSequence && !isRandomAccess)
    guard !isSkipped else { return PacketEvidence() }
    let order = restarts ? slice.order : wholeOrder(slice)
    var damage: StreamDamage?
    if restarts {
      (kept, epoch) = ([:], epoch + 1)
    } else {
      damage = references(of: slice, at: order)
    }
    if slices.allSatisfy({ $0.isIntra || $0.isDependent }) { damage = nil }
    // 7.4.7.1: the first segment of a picture is there once, with the address 0.
    if !slices.contains(where: \.isFirst) || !pattern.isWhole(slices.map(\.address)) {
      damage = .sliceMissing
    }
    kept[order] = .some(damage)
    if isRandomAccess { accessOrder = order }
    // Sub-layer non-reference pictures and leading pictures are not counted from (8.3.1).
    let isCounted = layer == 0 && !(6...9).contains(kind) && (kind > 9 || kind & 1 == 1)
    if isCounted { previous = order }
    var evidence = PacketEvidence(damage: damage, isRefresh: isRandomAccess)
    highestLayer = max(highestLayer, layer)
    // Table 7-1: pictures of even types up to 14 are referred to by higher sub-layers alone.
    evidence.order = PictureOrder(epoch: epoch, number: order)
    evidence.isDisposable = kind <= 14 && kind & 1 == 0 && layer == highestLayer
    // 8.3.2: trailing pictures do not refer to leading pictures. A damaged header may mark any
    // picture as leading.
    evidence.isLeading = (6...9).contains(kind) && order < accessOrder
    return evidence
  }

  /// Equation 8-1.
  private func wholeOrder(_ slice: HEVCSlice) -> Int {
    let range = 1 << slice.orderBits
    let low = previous & (range - 1)
    let high = previous - low
    if slice.order < low, low - slice.order >= range / 2 { return high + range + slice.order }
    if slice.order > low, slice.order - low > range / 2 { return high - range + slice.order }
    return high + slice.order
  }

  /// Keeps the pictures that the slice names, and returns the damage that its references pass on.
  private mutating func references(of slice: HEVCSlice, at order: Int) -> StreamDamage? {
    var (next, damage): ([Int: StreamDamage?], StreamDamage?) = ([:], nil)
    for entry in slice.references {
      let wanted = order + entry.distance
      let found = kept[wanted] ?? .some(.referenceMissing)
      if entry.isUsed { damage = damage ?? found }
      // A missing picture that is only kept harms only the pictures that refer to it later.
      if kept[wanted] != nil || entry.isUsed { next[wanted] = found }
    }
    for entry in slice.longTerm {
      let range = 1 << slice.orderBits
      let whole = entry.cycles.map { order - $0 * range - (order & (range - 1)) + entry.order }
      let key =
        whole ?? kept.keys.filter { $0 & (range - 1) == entry.order }.min() ?? entry.order
      let found = kept[key] ?? .some(.referenceMissing)
      if entry.isUsed { damage = damage ?? found }
      if kept[key] != nil || entry.isUsed { next[key] = found }
    }
    kept = next
    return damage
  }

  private mutating func take(set: [UInt8]) {
    switch (set.first ?? 0) >> 1 & 0x3F {
    case 33: if let sequence = HEVCSequence(set) { sequences[sequence.id] = sequence }
    case 34: if let picture = HEVCPicture(set) { pictures[picture.id] = picture }
    default: break
    }
  }

  private static func sets(_ extradata: [UInt8], hasLengths: Bool) -> [[UInt8]] {
    guard hasLengths else { return AnnexB.units(extradata).map { AnnexB.withoutEscapes($0) } }
    var sets: [[UInt8]] = []
    var place = 23
    for _ in 0..<Int(extradata[22]) {
      guard place + 3 <= extradata.count else { return sets }
      let count = Int(extradata[place + 1]) << 8 | Int(extradata[place + 2])
      place += 3
      sets += AnnexB.sets(count, in: extradata, at: &place)
    }
    return sets
  }
}

/// The addresses of a picture's slices, compared with the addresses in the pictures before it.
///
/// A slice does not say where it ends, so a missing address shows a lost slice only if all pictures
/// so far were cut at the same places.
struct SlicePattern: Sendable {
  private var addresses: [Int] = []
  private var repeats = 0

  /// Number of equal pictures after which another cut is a loss.
  private static let repeatsMin = 2

  /// Whether no slice of the picture is known to be missing.
  ///
  /// - Parameter found: The addresses of the picture's slices, in their order.
  mutating func isWhole(_ found: [Int]) -> Bool {
    if found == addresses {
      repeats += 1
      return true
    }
    let isPart =
      repeats >= Self.repeatsMin && found.count < addresses.count
      && Set(found).isSubset(of: addresses)
    if isPart { return false }
    (addresses, repeats) = (found, 0)
    return true
  }
}
