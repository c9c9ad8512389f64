/// Finds lost reference pictures in H.264 by the frame numbers (ITU-T H.264, 7.4.3 `frame_num`).
///
/// Frame numbers count reference pictures, so a lost picture that no other picture refers to leaves
/// no gap. A stream that allows gaps in its numbers, such as a stream with temporal layers, is
/// never reported.
struct H264Evidence: EvidenceReader {
  private let lengthSize: Int?
  private var parameterSets: ParameterSetHistory
  private var sequences: [UInt32: H264Sequence] = [:]
  private var pictures: [UInt32: H264Picture] = [:]
  /// `PrevRefFrameNum`; nil until it is known.
  private var last: Int?
  private var loss: Loss?
  /// The time before which pictures still refer to a lost picture, although decoding has recovered.
  private var leadingBefore: Int64?

  /// The order count of the last reference picture (8.2.1.1).
  private var order = PictureOrder(number: 0)

  private struct Loss: Sendable {
    /// The frame number at which a recovery point began, and how many numbers later it ends.
    var recovery: (start: Int, count: Int)?
  }

  /// Number of bytes of a unit that are read: parameter sets with scaling matrices are the longest.
  private static let headBytes = 384

  init(extradata: [UInt8]) {
    lengthSize = extradata.first == 1 && extradata.count > 4 ? Int(extradata[4] & 3) + 1 : nil
    let sets = Self.sets(extradata, hasLengths: lengthSize != nil)
    parameterSets = ParameterSetHistory(known: sets)
    for set in sets { take(set: set) }
  }

  mutating func add(_ packet: MediaPacket) -> PacketEvidence {
    var slices: [H264Slice] = []
    var recovery: Int?
    var sets: Set<[UInt8]> = []
    for unit in packet.unitHeads(lengthSize: lengthSize, countMax: Self.headBytes) {
      switch (unit.bytes.first ?? 0) & 0x1F {
      case 1, 2, 5:
        H264Slice(unit.bytes, sequences: sequences, pictures: pictures).map { slices.append($0) }
      case 6: recovery = Self.recoveryCount(unit.bytes) ?? recovery
      case 7, 8:
        take(set: unit.bytes)
        sets.insert(unit.bytes)
      default: break
      }
    }
    let hasSets = parameterSets.repeatsAll(sets)
    guard let first = slices.first else { return PacketEvidence() }
    var evidence = judge(
      first, isIntra: slices.allSatisfy { $0.kind == .intra }, recovery: recovery, time: packet.pts)
    evidence.order = order(of: first)
    evidence.refreshID = first.refreshID
    evidence.isRestart = first.isInstantRefresh && hasSets
    return evidence
  }

  mutating func repeatLast(packet: Int) { loss = Loss() }

  private mutating func order(of slice: H264Slice) -> PictureOrder? {
    if slice.isInstantRefresh { order = PictureOrder(epoch: order.epoch + 1, number: 0) }
    guard let (low, range) = slice.order else { return nil }
    let last = order.number
    var found = order
    // The nearest number with these low bits; it is the number of equation 8-3.
    let distance = (low - last) & (range - 1)
    found.number = last + (distance > range / 2 ? distance - range : distance)
    if slice.resetsNumbers {
      order = PictureOrder(epoch: order.epoch + 1, number: 0)
    } else if slice.isReference {
      order = found
    }
    return found
  }

  private mutating func judge(
    _ slice: H264Slice, isIntra: Bool, recovery: Int?, time: Int64?
  ) -> PacketEvidence {
    defer { count(slice) }
    if slice.isInstantRefresh {
      (loss, leadingBefore) = (nil, nil)
      return PacketEvidence(isRefresh: true)
    }
    if let last, !slice.allowsGaps, slice.frameNumber != last,
      slice.frameNumber != (last + 1) & slice.frameNumberMask
    {
      loss = Loss()
    }
    var evidence = PacketEvidence(isRefresh: isIntra && recovery == 0)
    evidence.isDisposable = !slice.isReference
    if loss != nil, let recovery { recover(slice, after: recovery, isIntra: isIntra, time: time) }
    if let end = loss?.recovery,
      (slice.frameNumber - end.start) & slice.frameNumberMask >= end.count
    {
      loss = nil
    }
    let isLeading = time.flatMap { time in leadingBefore.map { time < $0 } } ?? false
    if !isIntra, loss != nil || isLeading { evidence.damage = .referenceMissing }
    return evidence
  }

  private mutating func recover(_ slice: H264Slice, after count: Int, isIntra: Bool, time: Int64?) {
    if count == 0, isIntra {
      (loss, leadingBefore) = (nil, time)
    } else if loss?.recovery == nil {
      loss?.recovery = (slice.frameNumber, count)
    }
  }

  private mutating func count(_ slice: H264Slice) {
    if slice.resetsNumbers {
      last = 0
    } else if slice.isReference || last == nil {
      last = slice.isReference ? slice.frameNumber : nil
    }
  }

  private mutating func take(set: [UInt8]) {
    if (set.first ?? 0) & 0x1F == 7 {
      if let sequence = H264Sequence(set) { sequences[sequence.id] = sequence }
    } else if let picture = H264Picture(set) {
      pictures[picture.id] = picture
    }
  }

  /// `recovery_frame_cnt` of a recovery point (ITU-T H.264, D.1.8).
  private static func recoveryCount(_ unit: [UInt8]) -> Int? {
    var place = 1
    // Ends: the place grows in each round.
    while place + 2 < unit.count {
      var (kind, size) = (0, 0)
      while place < unit.count, unit[place] == 0xFF { (kind, place) = (kind + 255, place + 1) }
      guard place < unit.count else { return nil }
      (kind, place) = (kind + Int(unit[place]), place + 1)
      while place < unit.count, unit[place] == 0xFF { (size, place) = (size + 255, place + 1) }
      guard place < unit.count else { return nil }
      (size, place) = (size + Int(unit[place]), place + 1)
      if kind == 6 {
        var bits = BitReader(Array(unit[place...].prefix(size)))
        return Int(bits.readExponential())
      }
      place += size
    }
    return nil
  }

  /// The parameter sets of a decoder configuration record (ISO/IEC 14496-15, 5.3.3.1), or of units
  /// after start codes.
  private static func sets(_ extradata: [UInt8], hasLengths: Bool) -> [[UInt8]] {
    guard hasLengths else { return AnnexB.units(extradata).map { AnnexB.withoutEscapes($0) } }
    var sets: [[UInt8]] = []
    var place = 5
    for mask: UInt8 in [0x1F, 0xFF] {
      guard place < extradata.count else { return sets }
      let count = Int(extradata[place] & mask)
      place += 1
      sets += AnnexB.sets(count, in: extradata, at: &place)
    }
    return sets
  }
}
