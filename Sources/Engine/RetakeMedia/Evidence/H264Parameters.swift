/// The fields of H.264's parameter sets that are needed to read slice headers (ITU-T H.264,
/// 7.3.2.1 and 7.3.2.2).
struct H264Sequence: Hashable, Sendable {
  var id: UInt32
  var frameNumberBits: Int
  /// Of `pic_order_cnt_type`.
  var orderType: UInt32
  var orderBits = 0
  var hasOrderDeltas = false
  var allowsGaps: Bool
  var isFrameOnly: Bool
  var hasSeparatePlanes = false
  /// Whether weights of chroma follow the weights of luma.
  var hasChroma = true

  private static let highProfiles: Set<UInt32> = [
    100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135,
  ]

  /// - Parameter unit: With its header of one byte.
  init?(_ unit: [UInt8]) {
    var bits = BitReader(Array(unit.dropFirst()))
    let profile = bits.read(8)
    bits.skip(16)
    id = bits.readExponential()
    var chroma: UInt32 = 1
    if Self.highProfiles.contains(profile) {
      chroma = bits.readExponential()
      if chroma == 3 { hasSeparatePlanes = bits.readFlag() }
      hasChroma = chroma != 0 && !hasSeparatePlanes
      (_, _) = (bits.readExponential(), bits.readExponential())
      bits.skip(1)
      if bits.readFlag() { Self.skipScaling(count: chroma == 3 ? 12 : 8, &bits) }
    }
    frameNumberBits = Int(bits.readExponential()) + 4
    orderType = bits.readExponential()
    if orderType == 0 {
      orderBits = Int(bits.readExponential()) + 4
    } else if orderType == 1 {
      hasOrderDeltas = !bits.readFlag()
      (_, _) = (bits.readSignedExponential(), bits.readSignedExponential())
      let count = bits.readExponential()
      guard count < 256 else { return nil }
      for _ in 0..<count { _ = bits.readSignedExponential() }
    }
    _ = bits.readExponential()
    allowsGaps = bits.readFlag()
    (_, _) = (bits.readExponential(), bits.readExponential())
    isFrameOnly = bits.readFlag()
    guard !bits.isOver, id < 32, frameNumberBits <= 16, orderType <= 2, orderBits <= 16 else {
      return nil
    }
  }

  /// ITU-T H.264, 7.3.2.1.1.1.
  private static func skipScaling(count: Int, _ bits: inout BitReader) {
    for list in 0..<count where bits.readFlag() {
      var (last, next) = (8, 8)
      for _ in 0..<(list < 6 ? 16 : 64) {
        if next != 0 { next = (last + bits.readSignedExponential() + 256) % 256 }
        last = next == 0 ? last : next
      }
    }
  }
}

struct H264Picture: Hashable, Sendable {
  var id: UInt32
  var sequence: UInt32
  var hasFieldOrder: Bool
  /// Default numbers of references of both lists.
  var references: [Int]
  var weighsPredicted: Bool
  var weighsBidirectional: UInt32
  var hasRedundantCount: Bool

  /// - Returns: nil also for slice groups, which only the extended profile has.
  init?(_ unit: [UInt8]) {
    var bits = BitReader(Array(unit.dropFirst()))
    id = bits.readExponential()
    sequence = bits.readExponential()
    bits.skip(1)
    hasFieldOrder = bits.readFlag()
    guard bits.readExponential() == 0 else { return nil }
    references = [Int(bits.readExponential()) + 1, Int(bits.readExponential()) + 1]
    weighsPredicted = bits.readFlag()
    weighsBidirectional = bits.read(2)
    for _ in 0..<3 { _ = bits.readSignedExponential() }
    bits.skip(2)
    hasRedundantCount = bits.readFlag()
    guard !bits.isOver, id < 256, sequence < 32, references.allSatisfy({ $0 <= 32 }) else {
      return nil
    }
  }
}

/// The fields of a slice header (ITU-T H.264, 7.3.3) that show the references of the slice.
struct H264Slice: Sendable {
  enum Kind: Hashable, Sendable { case predicted, bidirectional, intra }

  var kind: Kind
  var isReference: Bool
  var isInstantRefresh: Bool
  var frameNumber: Int
  /// One less than the number of different frame numbers, which is a power of two.
  var frameNumberMask: Int
  var allowsGaps: Bool
  /// `idr_pic_id`
  var refreshID: Int?
  /// The lower bits of the order count and their number of values; nil in a field, and with
  /// `pic_order_cnt_type` 1.
  var order: (low: Int, range: Int)?
  /// The slice resets the numbering of frames (memory management operation 5).
  var resetsNumbers = false

  init?(_ unit: [UInt8], sequences: [UInt32: H264Sequence], pictures: [UInt32: H264Picture]) {
    guard let header = unit.first else { return nil }
    isReference = header & 0x60 != 0
    isInstantRefresh = header & 0x1F == 5
    var bits = BitReader(Array(unit.dropFirst()))
    _ = bits.readExponential()
    switch bits.readExponential() % 5 {
    case 0, 3: kind = .predicted
    case 1: kind = .bidirectional
    default: kind = .intra
    }
    guard let picture = pictures[bits.readExponential()],
      let sequence = sequences[picture.sequence]
    else { return nil }
    if sequence.hasSeparatePlanes { bits.skip(2) }
    frameNumber = Int(bits.read(sequence.frameNumberBits))
    frameNumberMask = (1 << sequence.frameNumberBits) - 1
    allowsGaps = sequence.allowsGaps
    let isField = !sequence.isFrameOnly && bits.readFlag()
    if isField { bits.skip(1) }
    if isInstantRefresh { refreshID = Int(bits.readExponential()) }
    let low = Self.readOrder(&bits, sequence, picture, isField: isField)
    if !isField { order = low.map { ($0, 1 << sequence.orderBits) } }
    if sequence.orderType == 2, !isField {
      // 8.2.1.3: pictures are shown in the order in which they are decoded.
      order = (2 * frameNumber - (isReference ? 0 : 1), 2 * (frameNumberMask + 1))
    }
    if picture.hasRedundantCount { _ = bits.readExponential() }
    let lists = Self.referenceCounts(&bits, kind, picture)
    Self.skipListChanges(&bits, lists: lists.count)
    if Self.hasWeights(kind, picture) { Self.skipWeights(&bits, lists, sequence) }
    if isReference, !isInstantRefresh { resetsNumbers = Self.resetsNumbers(&bits) }
    guard !bits.isOver else { return nil }
  }

  private static func readOrder(
    _ bits: inout BitReader, _ sequence: H264Sequence, _ picture: H264Picture, isField: Bool
  ) -> Int? {
    let hasSecond = picture.hasFieldOrder && !isField
    if sequence.orderType == 0 {
      let low = Int(bits.read(sequence.orderBits))
      if hasSecond { _ = bits.readSignedExponential() }
      return low
    } else if sequence.orderType == 1, sequence.hasOrderDeltas {
      _ = bits.readSignedExponential()
      if hasSecond { _ = bits.readSignedExponential() }
    }
    return nil
  }

  /// Number of references of each list that the slice has.
  private static func referenceCounts(
    _ bits: inout BitReader, _ kind: Kind, _ picture: H264Picture
  ) -> [Int] {
    guard kind != .intra else { return [] }
    let lists = kind == .bidirectional ? 2 : 1
    if kind == .bidirectional { bits.skip(1) }
    var counts = Array(picture.references.prefix(lists))
    if bits.readFlag() { for list in 0..<lists { counts[list] = Int(bits.readExponential()) + 1 } }
    return counts
  }

  private static func skipListChanges(_ bits: inout BitReader, lists: Int) {
    for _ in 0..<lists where bits.readFlag() {
      // Ends: at 3, or after the last bit, where zeros would be read for ever.
      while !bits.isOver, bits.readExponential() != 3 { _ = bits.readExponential() }
    }
  }

  private static func hasWeights(_ kind: Kind, _ picture: H264Picture) -> Bool {
    switch kind {
    case .predicted: picture.weighsPredicted
    case .bidirectional: picture.weighsBidirectional == 1
    case .intra: false
    }
  }

  private static func skipWeights(
    _ bits: inout BitReader, _ lists: [Int], _ sequence: H264Sequence
  ) {
    let hasChroma = sequence.hasChroma
    _ = bits.readExponential()
    if hasChroma { _ = bits.readExponential() }
    for count in lists {
      for _ in 0..<min(count, 32) {
        if bits.readFlag() { for _ in 0..<2 { _ = bits.readSignedExponential() } }
        if hasChroma, bits.readFlag() { for _ in 0..<4 { _ = bits.readSignedExponential() } }
      }
    }
  }

  /// ITU-T H.264, 7.3.3.3.
  private static func resetsNumbers(_ bits: inout BitReader) -> Bool {
    guard bits.readFlag() else { return false }
    // Ends: at 0, and reads after the last bit also return 0.
    while true {
      switch bits.readExponential() {
      case 0: return false
      case 3: (_, _) = (bits.readExponential(), bits.readExponential())
      case 5: return true
      default: _ = bits.readExponential()
      }
      if bits.isOver { return false }
    }
  }
}
