/// A binary form of values: integers in eight bytes, little-endian, floats by their bits, strings
/// and lists after their count.
package struct ByteWriter: Sendable {
  package private(set) var bytes: [UInt8] = []

  package init() {}

  package mutating func append(_ number: Int) { append(UInt64(bitPattern: Int64(number))) }

  package mutating func append(_ word: UInt64) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: word >> shift))
    }
  }

  // Unlike a digest, this keeps the sign of zero and the bits of a NaN: a value that is read back
  // must have the bits of the computed value.
  package mutating func append(_ number: Double) { append(number.bitPattern) }

  package mutating func append(_ text: String) { append(Array(text.utf8)) }

  package mutating func append(_ content: [UInt8]) {
    append(content.count)
    bytes += content
  }

  package mutating func append(_ digest: Digest128) {
    append(digest.high)
    append(digest.low)
  }
}
