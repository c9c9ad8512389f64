/// Reads the little-endian numbers and strings of an MCAP record.
struct BagByteReader {
  private let bytes: ArraySlice<UInt8>
  private var next: Int

  /// A record is shorter than its fields need.
  struct Short: Error, Hashable {}

  init(_ bytes: ArraySlice<UInt8>) {
    (self.bytes, next) = (bytes, bytes.startIndex)
  }

  var remaining: Int { bytes.endIndex - next }
  var rest: ArraySlice<UInt8> { bytes[next...] }
  var isAtEnd: Bool { next == bytes.endIndex }

  mutating func integer<Number: FixedWidthInteger>(
    _ type: Number.Type = Number.self
  ) throws -> Number {
    let part = try take(Number.bitWidth / 8)
    var value: UInt64 = 0
    for place in part.indices.reversed() { value = value << 8 | UInt64(part[place]) }
    return Number(truncatingIfNeeded: value)
  }

  mutating func take(_ count: Int) throws -> ArraySlice<UInt8> {
    guard count >= 0, remaining >= count else { throw Short() }
    defer { next += count }
    return bytes[next..<next + count]
  }

  /// A length of 32 bits, then as many bytes.
  mutating func sized() throws -> ArraySlice<UInt8> {
    try take(Int(try integer(UInt32.self)))
  }

  mutating func string() throws -> String {
    String(decoding: try sized(), as: UTF8.self)
  }
}
