/// Reads the fields of a message of protocol buffers, without copying its bytes.
struct ProtobufReader {
  struct Field {
    var number: UInt64
    /// Of an integer.
    var value: UInt64 = 0
    /// Of bytes, strings and messages.
    var range = 0..<0
    var isBytes = false
    /// The field with its number.
    var whole = 0..<0
  }

  /// The bytes are not a message, or it was cut off.
  struct Malformed: Error, Hashable {
    var cause: String
  }

  let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// Calls `body` with each field of the message in a part of the bytes.
  func forEachField(in range: Range<Int>, _ body: (Field) throws -> Void) throws {
    var place = range.lowerBound
    // Ends: each round reads at least one byte.
    while place < range.upperBound {
      try body(try field(at: &place, end: range.upperBound))
    }
  }

  func text(_ field: Field) -> String { String(decoding: bytes[field.range], as: UTF8.self) }

  private func field(at place: inout Int, end: Int) throws -> Field {
    let first = place
    let tag = try integer(at: &place, end: end)
    var field = Field(number: tag >> 3)
    guard field.number > 0 else { throw Malformed(cause: "it is not a model") }
    switch tag & 7 {
    case 0: field.value = try integer(at: &place, end: end)
    case 1: try skip(8, at: &place, end: end)
    case 2:
      let count = try integer(at: &place, end: end)
      let start = place
      try skip(count, at: &place, end: end)
      (field.range, field.isBytes) = (start..<place, true)
    case 5: try skip(4, at: &place, end: end)
    default: throw Malformed(cause: "it is not a model")
    }
    field.whole = first..<place
    return field
  }

  private func skip(_ count: UInt64, at place: inout Int, end: Int) throws {
    guard count <= UInt64(end - place) else { throw Malformed(cause: "it was cut off") }
    place += Int(count)
  }

  /// Seven bits in each byte, the lowest first, in at most ten bytes.
  private func integer(at place: inout Int, end: Int) throws -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 70, by: 7) {
      guard place < end else { throw Malformed(cause: "it was cut off") }
      let byte = bytes[place]
      place += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw Malformed(cause: "it is not a model")
  }
}
