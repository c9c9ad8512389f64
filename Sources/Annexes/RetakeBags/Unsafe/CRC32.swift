/// The checksum of MCAP: CRC-32 of ISO 3309, as in gzip and PNG.
///
/// Eight bytes are read at a time, and each has a separate table (Kounavis and Berry, "A Systematic
/// Approach to Building High Performance Software-based CRC Generators", 2005).
struct CRC32 {
  // SAFETY: all reads are inside of the slice and of the table, whose index has 11 bits.
  private var register: UInt32 = 0xFFFF_FFFF

  init() {}

  var value: UInt32 { ~register }

  static func of(_ bytes: ArraySlice<UInt8>) -> UInt32 {
    var crc = CRC32()
    crc.update(with: bytes)
    return crc.value
  }

  mutating func update(with bytes: ArraySlice<UInt8>) {
    var crc = register
    Self.tables.withUnsafeBufferPointer { tables in
      bytes.withUnsafeBytes { buffer in
        guard let table = tables.baseAddress, let base = buffer.baseAddress else { return }
        var place = 0
        while place + 8 <= buffer.count {
          let word = UInt64(
            littleEndian: base.loadUnaligned(fromByteOffset: place, as: UInt64.self))
          let low = UInt32(truncatingIfNeeded: word) ^ crc
          let high = UInt32(truncatingIfNeeded: word >> 32)
          let first = table[7 * 256 + Int(low & 0xFF)] ^ table[6 * 256 + Int(low >> 8 & 0xFF)]
          let second = table[5 * 256 + Int(low >> 16 & 0xFF)] ^ table[4 * 256 + Int(low >> 24)]
          let third = table[3 * 256 + Int(high & 0xFF)] ^ table[2 * 256 + Int(high >> 8 & 0xFF)]
          let fourth = table[256 + Int(high >> 16 & 0xFF)] ^ table[Int(high >> 24)]
          crc = first ^ second ^ third ^ fourth
          place += 8
        }
        while place < buffer.count {
          crc = crc >> 8 ^ table[Int((crc ^ UInt32(buffer[place])) & 0xFF)]
          place += 1
        }
      }
    }
    register = crc
  }

  /// Eight tables of 256 entries: table n is for a byte that n bytes follow.
  private static let tables: [UInt32] = {
    var tables = [UInt32](repeating: 0, count: 8 * 256)
    for entry in 0..<256 {
      var crc = UInt32(entry)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xEDB8_8320 : crc >> 1 }
      tables[entry] = crc
    }
    for table in 1..<8 {
      for entry in 0..<256 {
        let before = tables[(table - 1) * 256 + entry]
        tables[table * 256 + entry] = before >> 8 ^ tables[Int(before & 0xFF)]
      }
    }
    return tables
  }()
}
