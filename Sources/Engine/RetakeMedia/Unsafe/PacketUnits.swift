/// The beginning of one NAL unit of a packet (ITU-T H.264 and H.265, 7.3.1).
package struct UnitHead: Sendable {
  /// The first bytes, without emulation prevention bytes.
  package var bytes: [UInt8]
}

extension MediaPacket {
  /// The beginnings of the packet's NAL units, in order.
  ///
  /// - Parameters:
  ///   - lengthSize: Number of bytes of the length before each unit; nil for units that follow
  ///     start codes.
  ///   - countMax: Maximum number of bytes of each unit.
  package func unitHeads(lengthSize: Int?, countMax: Int) -> [UnitHead] {
    withBytes { bytes in
      var heads: [UnitHead] = []
      for range in Self.units(of: bytes, lengthSize: lengthSize) {
        // SAFETY: the range is within the packet's bytes.
        heads.append(UnitHead(bytes: AnnexB.withoutEscapes(bytes[range], countMax: countMax)))
      }
      return heads
    }
  }

  /// The bytes that follow each start code `00 00 01`, at most `countMax` of each, in order.
  package func startCodeHeads(countMax: Int) -> [[UInt8]] {
    withBytes { bytes in
      Self.placesAfterStartCodes(bytes).map { place in
        // SAFETY: the range is within the packet's bytes.
        Array(bytes[place..<min(bytes.count, place + countMax)])
      }
    }
  }

  private static func units(
    of bytes: UnsafeRawBufferPointer, lengthSize: Int?
  ) -> [Range<Int>] {
    guard let lengthSize else { return unitsAfterStartCodes(bytes) }
    var units: [Range<Int>] = []
    var place = 0
    // Ends: the place grows in each round.
    while place + lengthSize < bytes.count {
      let size = bytes[place..<place + lengthSize].reduce(0) { $0 << 8 | Int($1) }
      place += lengthSize
      let end = min(bytes.count, place + size)
      if end > place { units.append(place..<end) }
      place = end
    }
    return units
  }

  private static func unitsAfterStartCodes(_ bytes: UnsafeRawBufferPointer) -> [Range<Int>] {
    let starts = placesAfterStartCodes(bytes)
    return starts.indices.map { number in
      starts[number]..<(number + 1 < starts.count ? starts[number + 1] - 3 : bytes.count)
    }
  }

  private static func placesAfterStartCodes(_ bytes: UnsafeRawBufferPointer) -> [Int] {
    var starts: [Int] = []
    var place = 0
    // Ends: the place grows in each round.
    while place + 3 < bytes.count {
      switch bytes[place + 2] {
      case 0: place += 1
      case 1:
        if bytes[place] == 0, bytes[place + 1] == 0 { starts.append(place + 3) }
        place += 3
      default: place += 3
      }
    }
    return starts
  }
}
