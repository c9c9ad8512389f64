import RetakeMedia

/// Builds the decoder configuration record of HEVC (ISO/IEC 14496-15, 8.3.3.1) from the parameter
/// sets that a stream sends after start codes.
enum HEVCConfiguration {
  /// NAL unit types of the sets, in the order of the record.
  private static let setTypes: [UInt8] = [32, 33, 34]
  private static let sequenceSet: UInt8 = 33

  /// - Returns: nil when a kind of set is missing, or the first sequence set cannot be parsed.
  static func record(of extradata: [UInt8]) -> [UInt8]? {
    let units = AnnexB.units(extradata).filter { $0.count > 2 }
    let sets = setTypes.map { type in units.filter { self.type(of: $0) == type } }
    guard sets.allSatisfy({ !$0.isEmpty && $0.count <= setsMax }),
      let first = units.first(where: { type(of: $0) == sequenceSet }),
      let facts = SequenceFacts(first)
    else { return nil }
    var result: [UInt8] = [1] + facts.profileTierLevel
    // Segmentation and parallelism are unknown.
    result += [0xF0, 0x00, 0xFC]
    result += [0xFC | facts.chroma, 0xF8 | facts.lumaBits, 0xF8 | facts.chromaBits]
    // The average rate is unknown. The length before each unit has four bytes.
    result += [0, 0, (facts.layers << 3) | (facts.nests ? 0x04 : 0) | 0x03]
    result.append(UInt8(setTypes.count))
    for (type, sets) in zip(setTypes, sets) {
      result.append(type)
      append(UInt16(sets.count), to: &result)
      for set in sets {
        guard let size = UInt16(exactly: set.count) else { return nil }
        append(size, to: &result)
        result += set
      }
    }
    return result
  }

  /// Maximum number of sets of one kind; the specification allows at most 64 picture sets.
  private static let setsMax = 64

  private static func type(of unit: ArraySlice<UInt8>) -> UInt8 {
    unit.first.map { ($0 >> 1) & 0x3F } ?? 0
  }

  private static func append(_ value: UInt16, to result: inout [UInt8]) {
    result += [UInt8(value >> 8), UInt8(truncatingIfNeeded: value)]
  }

  /// The fields of a sequence parameter set (ITU-T H.265, 7.3.2.2) that the record repeats.
  private struct SequenceFacts {
    /// 12 bytes: profile space, tier and profile, compatibility, constraints, level.
    var profileTierLevel: [UInt8]
    var layers: UInt8
    var nests: Bool
    var chroma: UInt8
    /// Bit depth minus 8, as for chroma.
    var lumaBits: UInt8
    var chromaBits: UInt8

    init?(_ unit: ArraySlice<UInt8>) {
      // A unit's header has two bytes (7.3.1.2), then the set begins with the id of its video set.
      var bits = BitReader(AnnexB.withoutEscapes(unit.dropFirst(2)))
      bits.skip(4)
      let higherLayers = bits.read(3)
      nests = bits.read(1) == 1
      profileTierLevel = (0..<12).map { _ in UInt8(truncatingIfNeeded: bits.read(8)) }
      Self.skipLayers(higherLayers, &bits)
      _ = bits.readExponential()
      let chroma = bits.readExponential()
      if chroma == 3 { bits.skip(1) }
      // Width and height, then the conformance window.
      (_, _) = (bits.readExponential(), bits.readExponential())
      if bits.read(1) == 1 { for _ in 0..<4 { _ = bits.readExponential() } }
      let (luma, chromaBits) = (bits.readExponential(), bits.readExponential())
      guard !bits.isOver, higherLayers < 7, chroma <= 3, luma <= 7, chromaBits <= 7 else {
        return nil
      }
      layers = UInt8(higherLayers) + 1
      (self.chroma, lumaBits, self.chromaBits) = (
        UInt8(chroma), UInt8(luma), UInt8(chromaBits)
      )
    }

    private static func skipLayers(_ count: UInt32, _ bits: inout BitReader) {
      guard count > 0 else { return }
      // ITU-T H.265, 7.3.3: if there are sub-layers, there are always eight pairs of flags.
      let flags = (0..<8).map { _ in bits.read(2) }
      for flag in flags.prefix(Int(count)) {
        bits.skip((flag & 2 != 0 ? 88 : 0) + (flag & 1 != 0 ? 8 : 0))
      }
    }
  }
}
