/// Reads a message in CDR, the form in which ROS 2 writes messages (OMG DDS-XTypes 1.3, 7.4), or in
/// the form of ROS 1.
///
/// A message in CDR begins with a header of four bytes that contains the byte order; numbers are
/// aligned to their size, counted from the end of the header. A message of ROS 1 has neither header
/// nor alignment, and is little-endian. A length that the message cannot hold is an error before
/// any memory is allocated for it.
struct MessageReader {
  private let bytes: ArraySlice<UInt8>
  private var next: Int
  private let origin: Int
  private let isLittleEndian: Bool
  /// The largest alignment: 8, 4 in the second version of CDR, 1 in ROS 1.
  private let alignmentMax: Int

  init(_ bytes: ArraySlice<UInt8>, _ encoding: MessageEncoding = .cdr) throws {
    self.bytes = bytes
    guard encoding != .ros1 else {
      (isLittleEndian, alignmentMax) = (true, 1)
      (origin, next) = (bytes.startIndex, bytes.startIndex)
      return
    }
    guard bytes.count >= Self.headerBytes else {
      throw MessageProblem(offset: 0, cause: "it has \(bytes.count) bytes, fewer than a CDR header")
    }
    let (high, low) = (bytes[bytes.startIndex], bytes[bytes.startIndex + 1])
    // DDS-XTypes 1.3, 7.6.3.1.2: 0 and 1 are plain CDR, 6 and 7 plain CDR of the second version.
    switch (high, low) {
    case (0, 0), (0, 1): alignmentMax = 8
    case (0, 6), (0, 7): alignmentMax = 4
    default:
      throw MessageProblem(
        offset: 0, cause: "its encapsulation is \(Int(high) << 8 | Int(low)), not plain CDR")
    }
    isLittleEndian = low & 1 == 1
    origin = bytes.startIndex + Self.headerBytes
    next = origin
  }

  private static let headerBytes = 4

  var isROS1: Bool { alignmentMax == 1 }
  /// A message in CDR ends at a multiple of four bytes.
  var paddingMax: Int { isROS1 ? 0 : 3 }
  /// The second version writes the size of several structures before them.
  var isSecondVersion: Bool { alignmentMax == 4 }
  /// Bytes after the read position.
  var remaining: Int { bytes.endIndex - next }
  /// From the beginning of the message.
  var offset: Int { next - bytes.startIndex }

  private func problem(_ cause: String) -> MessageProblem {
    MessageProblem(offset: offset, cause: cause)
  }

  /// - Returns: the index of the first byte.
  private mutating func take(_ count: Int, aligned size: Int = 1) throws -> Int {
    let alignment = min(size, alignmentMax)
    let start = next + (alignment - (next - origin) % alignment) % alignment
    guard start <= bytes.endIndex, bytes.endIndex - start >= count else {
      throw problem("it ends there; \(count) more bytes are needed")
    }
    next = start + count
    return start
  }

  mutating func integer<Number: FixedWidthInteger>(
    _ type: Number.Type = Number.self
  ) throws -> Number {
    let size = Number.bitWidth / 8
    let start = try take(size, aligned: size)
    var value: UInt64 = 0
    for place in 0..<size {
      let shift = isLittleEndian ? 8 * place : 8 * (size - 1 - place)
      value |= UInt64(bytes[start + place]) << UInt64(shift)
    }
    return Number(truncatingIfNeeded: value)
  }

  mutating func float() throws -> Float {
    Float(bitPattern: try integer(UInt32.self))
  }

  mutating func double() throws -> Double {
    Double(bitPattern: try integer(UInt64.self))
  }

  /// The number of elements of a sequence, each of at least `elementBytes`.
  mutating func count(elementBytes: Int = 1) throws -> Int {
    let count = Int(try integer(UInt32.self))
    guard count <= remaining / max(1, elementBytes) else {
      throw problem("a sequence claims \(count) elements, and \(remaining) bytes are left")
    }
    return count
  }

  mutating func sequence() throws -> ArraySlice<UInt8> {
    let count = try count()
    let start = try take(count)
    return bytes[start..<start + count]
  }

  mutating func string() throws -> String {
    let text = try sequence()
    // In CDR, the count includes the zero byte at the end.
    return String(decoding: text.last == 0 ? text.dropLast() : text, as: UTF8.self)
  }

  mutating func skip(_ count: Int, aligned size: Int) throws {
    _ = try take(count, aligned: size)
  }
}
