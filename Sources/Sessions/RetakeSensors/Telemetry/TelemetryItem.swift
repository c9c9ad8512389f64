/// One key, length and value of a GoPro telemetry packet (GPMF): four letters, a type, the size of
/// one structure, the number of structures, and their bytes, padded to 32 bits.
///
/// The format is described at https://github.com/gopro/gpmf-parser. All numbers are big-endian.
struct TelemetryItem {
  /// Four letters: `GYRO`.
  var key: String
  /// A letter that names the type of the values; 0 for a list of items.
  var type: UInt8
  /// Bytes of one structure.
  var size: Int
  /// Number of structures.
  var count: Int
  /// Place of the header in the packet.
  var start: Int
  /// The bytes of the value, as places in the packet.
  var body: Range<Int>

  var isList: Bool { type == 0 }
}

/// Damage of a packet, and its place.
struct TelemetryDamage: Error, Equatable {
  var byte: Int
  var problem: String
}

/// Walks through the items of a packet.
struct TelemetryWalk {
  let bytes: [UInt8]

  /// A list in a list, and so on. A device holds streams, and a stream values.
  private static let depthMax = 8
  private static let headerBytes = 8

  /// The items of a part of the packet, in order, without their nested items.
  func items(in range: Range<Int>) throws -> [TelemetryItem] {
    var items: [TelemetryItem] = []
    var place = range.lowerBound
    // Ends: each item has at least the eight bytes of its header.
    while place < range.upperBound {
      guard range.upperBound - place >= Self.headerBytes else {
        // Zeros fill the end of a packet.
        guard bytes[place..<range.upperBound].allSatisfy({ $0 == 0 }) else {
          throw TelemetryDamage(byte: place, problem: "the header of an item is cut")
        }
        break
      }
      // A key of zeros is padding up to the end.
      if bytes[place..<place + 4].allSatisfy({ $0 == 0 }) { break }
      let item = try item(at: place, in: range)
      items.append(item)
      place = min(range.upperBound, item.body.upperBound + (4 - item.body.count % 4) % 4)
    }
    return items
  }

  private func item(
    at place: Int, in range: Range<Int>
  ) throws -> TelemetryItem {
    let letters = bytes[place..<place + 4]
    guard letters.allSatisfy({ (0x20...0x7E).contains($0) }) else {
      throw TelemetryDamage(byte: place, problem: "the key of an item is not four letters")
    }
    let (size, count) = (Int(bytes[place + 5]), Int(bytes[place + 6]) << 8 | Int(bytes[place + 7]))
    let start = place + Self.headerBytes
    guard size * count <= range.upperBound - start else {
      throw TelemetryDamage(
        byte: place,
        problem: "\(String(decoding: letters, as: UTF8.self)) says that it has \(size * count) "
          + "bytes, and \(range.upperBound - start) are left")
    }
    return TelemetryItem(
      key: String(decoding: letters, as: UTF8.self), type: bytes[place + 4], size: size,
      count: count, start: place, body: start..<start + size * count)
  }

  /// Calls `body` with the items of each stream, and the device that the stream belongs to.
  func eachStream(
    _ body: (_ device: String, _ items: [TelemetryItem]) throws -> Void
  ) throws {
    for item in try items(in: 0..<bytes.count) {
      try each(item, device: "", depth: 0, body)
    }
  }

  private func each(
    _ item: TelemetryItem, device: String, depth: Int,
    _ body: (_ device: String, _ items: [TelemetryItem]) throws -> Void
  ) throws {
    guard item.isList else { return }
    guard depth < Self.depthMax else {
      throw TelemetryDamage(
        byte: item.start, problem: "lists are nested deeper than \(Self.depthMax)")
    }
    let inside = try items(in: item.body)
    if item.key == "STRM" {
      try body(device, inside)
      return
    }
    let number = inside.first { $0.key == "DVID" }.map { bytes[$0.body] }
    let device = number.map { $0.map { String($0, radix: 16) }.joined(separator: ".") } ?? device
    for item in inside { try each(item, device: device, depth: depth + 1, body) }
  }

  /// The letters of a text, up to the first zero. GoPro writes Latin-1: `m/s²`.
  func text(_ item: TelemetryItem, _ number: Int = 0) -> String {
    let first = item.body.lowerBound + number * item.size
    guard item.size > 0, first + item.size <= item.body.upperBound else { return "" }
    let scalars = bytes[first..<first + item.size].prefix { $0 != 0 }
      .map { Character(Unicode.Scalar($0)) }
    return String(scalars).filter {
      !$0.isNewline
        && $0.unicodeScalars.allSatisfy { $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value) }
    }
  }

  /// All letters of an item whose structures are single letters.
  func letters(_ item: TelemetryItem) -> String {
    String(bytes[item.body].prefix { $0 != 0 }.map { Character(Unicode.Scalar($0)) })
  }
}

/// The types of the values of a telemetry stream.
enum TelemetryType {
  /// Bytes of one value; nil for a type that is not a number.
  static func bytes(_ type: UInt8) -> Int? {
    switch type {
    case UInt8(ascii: "b"), UInt8(ascii: "B"): 1
    case UInt8(ascii: "s"), UInt8(ascii: "S"): 2
    case UInt8(ascii: "l"), UInt8(ascii: "L"), UInt8(ascii: "f"), UInt8(ascii: "q"): 4
    case UInt8(ascii: "d"), UInt8(ascii: "j"), UInt8(ascii: "J"), UInt8(ascii: "Q"): 8
    default: nil
    }
  }

  /// The number at a place. The caller has checked that its bytes are there.
  static func number(_ type: UInt8, at place: Int, in bytes: [UInt8]) -> Double {
    let count = Self.bytes(type) ?? 0
    var bits: UInt64 = 0
    for byte in bytes[place..<place + count] { bits = bits << 8 | UInt64(byte) }
    switch type {
    case UInt8(ascii: "b"): return Double(Int8(truncatingIfNeeded: bits))
    case UInt8(ascii: "s"): return Double(Int16(truncatingIfNeeded: bits))
    case UInt8(ascii: "l"): return Double(Int32(truncatingIfNeeded: bits))
    case UInt8(ascii: "j"): return Double(Int64(bitPattern: bits))
    case UInt8(ascii: "f"): return Double(Float(bitPattern: UInt32(truncatingIfNeeded: bits)))
    case UInt8(ascii: "d"): return Double(bitPattern: bits)
    // Fixed point: 16 bits before and after the point, or 32.
    case UInt8(ascii: "q"): return Double(Int32(truncatingIfNeeded: bits)) / 65_536
    case UInt8(ascii: "Q"): return Double(Int64(bitPattern: bits)) / 4_294_967_296
    default: return Double(bits)
    }
  }
}
