/// Builds the little-endian numbers and strings of an MCAP record.
struct BagByteWriter {
  private(set) var bytes: [UInt8] = []

  mutating func integer<Number: FixedWidthInteger>(_ value: Number) {
    for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> Number(shift)))
    }
  }

  mutating func append(_ part: some Sequence<UInt8>) { bytes.append(contentsOf: part) }

  /// Writes the length in 32 bits, then the text.
  mutating func string(_ text: String) {
    integer(UInt32(text.utf8.count))
    append(text.utf8)
  }
}

/// Builds a message in CDR, little-endian (OMG DDS-XTypes 1.3, 7.4).
struct CDRWriter {
  private(set) var bytes: [UInt8] = [0, 1, 0, 0]

  private mutating func align(_ size: Int) {
    // Counted from the end of the header, whose four bytes are a multiple of 4 and not of 8.
    while (bytes.count - 4) % size != 0 { bytes.append(0) }
  }

  mutating func integer<Number: FixedWidthInteger>(_ value: Number) {
    align(Number.bitWidth / 8)
    for shift in stride(from: 0, to: Number.bitWidth, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: value >> Number(shift)))
    }
  }

  mutating func double(_ value: Double) { integer(value.bitPattern) }

  mutating func string(_ text: String) {
    integer(UInt32(text.utf8.count + 1))
    bytes.append(contentsOf: text.utf8)
    bytes.append(0)
  }

  mutating func sequence(_ part: some Collection<UInt8>) {
    integer(UInt32(part.count))
    bytes.append(contentsOf: part)
  }

  /// A time of `builtin_interfaces/msg/Time`, from nanoseconds since 1970.
  mutating func stamp(_ nanoseconds: Int64) {
    let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    let isBefore = rest < 0
    integer(Int32(clamping: isBefore ? seconds - 1 : seconds))
    integer(UInt32(isBefore ? rest + 1_000_000_000 : rest))
  }
}
