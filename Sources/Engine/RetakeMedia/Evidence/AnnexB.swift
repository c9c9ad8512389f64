/// Converts H.264 and HEVC from the form of encoders and streams, NAL units after start codes, to
/// the form of containers, each unit after its length. The stored packet and the recorded packet
/// are then the same bytes.
package enum AnnexB {
  /// Each unit, preceded by its length in four bytes; empty when there is no start code.
  package static func lengthPrefixed(_ bytes: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(bytes.count + 16)
    for unit in units(bytes) {
      for shift in [24, 16, 8, 0] { result.append(UInt8(truncatingIfNeeded: unit.count >> shift)) }
      result.append(contentsOf: unit)
    }
    return result
  }

  /// The decoder configuration record (ISO/IEC 14496-15, 5.3.3.1) for the parameter sets; nil when
  /// either kind of set is missing, or a set is longer than the record can state.
  package static func configuration(_ extradata: [UInt8]) -> [UInt8]? {
    let units = units(extradata)
    // ITU-T H.264, Table 7-1: type 7 is a sequence parameter set, 8 a picture parameter set.
    let sequenceSets = units.filter { ($0.first ?? 0) & 0x1F == 7 && $0.count >= 4 }
    let pictureSets = units.filter { ($0.first ?? 0) & 0x1F == 8 }
    // The record counts sequence sets in five bits and picture sets in eight.
    guard let first = sequenceSets.first, !pictureSets.isEmpty, sequenceSets.count < 32,
      pictureSets.count < 256,
      (sequenceSets + pictureSets).allSatisfy({ $0.count <= Int(UInt16.max) })
    else { return nil }
    // Version, then profile, compatibility and level of the set. 0xFF: lengths have the four bytes
    // that `lengthPrefixed` writes.
    var result: [UInt8] = [1] + first.dropFirst().prefix(3) + [0xFF]
    result.append(0xE0 | UInt8(sequenceSets.count))
    for set in sequenceSets { append(set, to: &result) }
    result.append(UInt8(pictureSets.count))
    for set in pictureSets { append(set, to: &result) }
    return result
  }

  private static func append(_ set: ArraySlice<UInt8>, to result: inout [UInt8]) {
    result.append(UInt8(truncatingIfNeeded: set.count >> 8))
    result.append(UInt8(truncatingIfNeeded: set.count))
    result.append(contentsOf: set)
  }

  /// The units between start codes of three or four bytes.
  package static func units(_ bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    var units: [ArraySlice<UInt8>] = []
    var start: Int?
    var place = 0
    while place + 2 < bytes.count {
      guard bytes[place] == 0, bytes[place + 1] == 0, bytes[place + 2] == 1 else {
        place += 1
        continue
      }
      if let start { units.append(trimmed(bytes[start..<place])) }
      start = place + 3
      place += 3
    }
    if let start { units.append(trimmed(bytes[start...])) }
    return units.filter { !$0.isEmpty }
  }

  /// A unit ends with a one bit, so trailing zero bytes belong to the next start code.
  private static func trimmed(_ unit: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let count = unit.reversed().prefix { $0 == 0 }.count
    return unit.dropLast(count)
  }

  /// Without the emulation prevention bytes (3), which keep start codes from occurring within
  /// units.
  ///
  /// - Parameter countMax: Maximum number of bytes of the result, from the beginning.
  package static func withoutEscapes(
    _ bytes: some Collection<UInt8>, countMax: Int = .max
  ) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(min(bytes.count, countMax))
    var zeros = 0
    for byte in bytes {
      if zeros >= 2, byte == 3 {
        zeros = 0
        continue
      }
      zeros = byte == 0 ? zeros + 1 : 0
      result.append(byte)
      if result.count == countMax { break }
    }
    return result
  }

  /// Parameter sets of a decoder configuration record, each after its size in two bytes, without
  /// emulation prevention bytes.
  ///
  /// - Parameter place: The place of the first size; afterwards the place after the last set, or
  ///   the end of the record if it is cut.
  static func sets(_ count: Int, in record: [UInt8], at place: inout Int) -> [[UInt8]] {
    var sets: [[UInt8]] = []
    for _ in 0..<count {
      guard place + 2 <= record.count else {
        place = record.count
        return sets
      }
      let size = Int(record[place]) << 8 | Int(record[place + 1])
      place += 2
      sets.append(withoutEscapes(record[place...].prefix(size)))
      place = min(record.count, place + size)
    }
    return sets
  }
}
