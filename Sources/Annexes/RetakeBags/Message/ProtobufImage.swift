/// An image in one of Foxglove's protobuf messages.
///
/// Only the wire format is read (protobuf.dev, Encoding), with the numbers of fields of Foxglove's
/// schemas: RawImage, CompressedImage and CompressedVideo.
struct ProtobufImage {
  private let bytes: ArraySlice<UInt8>
  private let type: ImageType
  private(set) var message: ImageMessage

  private struct Fields {
    var stamp: Int64 = 0
    var width = 0
    var height = 0
    var step = 0
    var text = ""
    var data: ArraySlice<UInt8>
  }

  init(_ bytes: ArraySlice<UInt8>, type: ImageType) throws {
    (self.bytes, self.type) = (bytes, type)
    message = ImageMessage(
      stampNanoseconds: nil, content: .coded(format: "", isVideo: false, data: bytes.prefix(0)))
    var fields = Fields(data: bytes.prefix(0))
    var next = bytes.startIndex
    while next < bytes.endIndex {
      let tag = try varint(&next)
      let number = Int(truncatingIfNeeded: tag >> 3)
      switch tag & 7 {
      case 0: _ = try varint(&next)
      case 1: _ = try take(8, &next)
      case 5: set(number, fixed: try take(4, &next), &fields)
      case 2:
        let count = try varint(&next)
        guard count <= UInt64(bytes.endIndex - next) else {
          throw problem(
            next, "a field claims \(count) bytes, and \(bytes.endIndex - next) are left")
        }
        try set(number, part: try take(Int(count), &next), &fields)
      default: throw problem(next, "a field has the unknown wire type \(tag & 7)")
      }
    }
    message = Self.message(fields, type)
  }

  private static func message(_ fields: Fields, _ type: ImageType) -> ImageMessage {
    guard type.kind == .foxgloveRaw else {
      return ImageMessage(
        stampNanoseconds: fields.stamp,
        content: .coded(
          format: fields.text, isVideo: type.kind == .foxgloveVideo,
          data: fields.data))
    }
    return ImageMessage(
      stampNanoseconds: fields.stamp,
      content: .raw(
        .init(
          width: fields.width, height: fields.height, encoding: fields.text, step: fields.step,
          data: fields.data)))
  }

  private func set(_ number: Int, fixed part: ArraySlice<UInt8>, _ fields: inout Fields) {
    guard type.kind == .foxgloveRaw else { return }
    let value = part.reversed().reduce(0) { $0 << 8 | Int($1) }
    switch number {
    case 2: fields.width = value
    case 3: fields.height = value
    case 5: fields.step = value
    default: break
    }
  }

  private func set(
    _ number: Int, part: ArraySlice<UInt8>, _ fields: inout Fields
  ) throws {
    // The numbers of the data and of the format or encoding.
    let (data, text) =
      switch type.kind {
      case .foxgloveRaw: (6, 4)
      case .foxgloveVideo: (3, 4)
      default: (2, 3)
      }
    switch number {
    case 1: fields.stamp = try stamp(part)
    case data: fields.data = part
    case text: fields.text = String(decoding: part, as: UTF8.self)
    default: break
    }
  }

  /// A `google.protobuf.Timestamp`.
  private func stamp(_ part: ArraySlice<UInt8>) throws -> Int64 {
    var next = part.startIndex
    var (seconds, nanoseconds): (Int64, Int64) = (0, 0)
    while next < part.endIndex {
      let tag = try varint(&next)
      guard tag & 7 == 0 else { throw problem(next, "a time has a field that is not a number") }
      let value = Int64(bitPattern: try varint(&next))
      if tag >> 3 == 1 { seconds = value } else if tag >> 3 == 2 { nanoseconds = value }
    }
    let (product, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, isTooLargeToo) = product.addingReportingOverflow(nanoseconds)
    guard !isTooLarge, !isTooLargeToo else {
      throw problem(part.startIndex, "the time of \(seconds) s does not fit")
    }
    return sum
  }

  private func take(_ count: Int, _ next: inout Int) throws -> ArraySlice<UInt8> {
    guard bytes.endIndex - next >= count else {
      throw problem(next, "it ends there; \(count) more bytes are needed")
    }
    defer { next += count }
    return bytes[next..<next + count]
  }

  private func varint(_ next: inout Int) throws -> UInt64 {
    var value: UInt64 = 0
    // Ten bytes hold 64 bits.
    for place in 0..<10 {
      let byte = try take(1, &next).first ?? 0
      value |= UInt64(byte & 0x7F) << UInt64(7 * place)
      if byte & 0x80 == 0 { return value }
    }
    throw problem(next, "a number has more than ten bytes")
  }

  private func problem(_ place: Int, _ cause: String) -> MessageProblem {
    MessageProblem(offset: place - bytes.startIndex, cause: cause)
  }
}
