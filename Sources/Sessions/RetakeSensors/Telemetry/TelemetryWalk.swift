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
