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
