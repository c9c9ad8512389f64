/// Reads bits, most significant first; zeros after the end.
package struct BitReader: Sendable {
  private let bytes: [UInt8]
  /// In bits.
  package private(set) var place = 0

  package init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Whether more bits were read than there are.
  package var isOver: Bool { place > 8 * bytes.count }

  package mutating func skip(_ count: Int) { place += count }

  package mutating func read(_ count: Int) -> UInt32 {
    (0..<count).reduce(0) { value, _ in
      defer { place += 1 }
      guard place < 8 * bytes.count else { return value << 1 }
      return value << 1 | UInt32(bytes[place / 8] >> UInt8(7 - place % 8) & 1)
    }
  }

  package mutating func readFlag() -> Bool { read(1) == 1 }

  /// Reads an unsigned Exp-Golomb code; a code that is too long ends the reading.
  package mutating func readExponential() -> UInt32 {
    var zeros = 0
    while !isOver, read(1) == 0 { zeros += 1 }
    guard zeros < 32, !isOver else {
      place = 8 * bytes.count + 1
      return 0
    }
    return (1 << UInt32(zeros)) - 1 + read(zeros)
  }

  /// Reads a signed Exp-Golomb code (ITU-T H.264, 9.1.1).
  mutating func readSignedExponential() -> Int {
    let code = Int(readExponential())
    return code & 1 == 1 ? (code + 1) / 2 : -code / 2
  }
}
