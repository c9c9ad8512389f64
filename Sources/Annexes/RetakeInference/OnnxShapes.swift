/// Changes the shapes that a model's file declares for its inputs.
///
/// Many detectors compute any size of image, and were exported with one size: CenterFace with 32 by
/// 32 pixels. The library refuses all other sizes, unless the declared shape is changed. The
/// declared shapes of outputs and intermediate values follow from the old shape, so they are
/// removed, and the library infers them again.
/// and the library works it out again.
struct OnnxShapes {
  /// By the name of the input; `nil` for a length that the caller chooses.
  let shapes: [String: [Int?]]

  /// - Returns: The bytes of the changed model.
  /// - Throws: If the bytes are not a message.
  func apply(to bytes: [UInt8]) throws -> [UInt8] {
    guard !shapes.isEmpty else { return bytes }
    let reader = ProtobufReader(bytes)
    // Field numbers of onnx.proto3: 7 is the model's graph; in the graph, 11 are the inputs, 12 the
    // outputs, and 13 the intermediate values.
    return try rewritten(reader, bytes.indices) { field in
      guard field.number == 7, field.isBytes else { return nil }
      let graph = try rewritten(reader, field.range) { field in
        switch field.number {
        case 11: try port(reader, field, shapes[try name(reader, field)])
        case 12: try port(reader, field, nil, dropsShape: true)
        case 13: []
        default: nil
        }
      }
      return Self.message(7, graph)
    }
  }

  /// The message, with each field replaced for which `replace` returns bytes.
  private func rewritten(
    _ reader: ProtobufReader, _ range: Range<Int>,
    _ replace: (ProtobufReader.Field) throws -> [UInt8]?
  ) throws -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(range.count)
    try reader.forEachField(in: range) {
      field in
      if let bytes = try replace(field) {
        result += bytes
      } else {
        result += reader.bytes[field.whole]
      }
    }
    return result
  }

  private func name(
    _ reader: ProtobufReader, _ port: ProtobufReader.Field
  ) throws -> String {
    var name = ""
    try reader.forEachField(in: port.range) {
      field in
      if field.number == 1 { name = reader.text(field) }
    }
    return name
  }

  /// An input or output with another shape. Field 2 is its type, whose field 1 is a tensor, whose
  /// field 2 is the shape.
  private func port(
    _ reader: ProtobufReader, _ port: ProtobufReader.Field, _ shape: [Int?]?,
    dropsShape: Bool = false
  ) throws -> [UInt8]? {
    guard shape != nil || dropsShape else { return nil }
    let content = try rewritten(reader, port.range) { field in
      guard field.number == 2, field.isBytes else { return nil }
      let type = try rewritten(reader, field.range) { field in
        guard field.number == 1, field.isBytes else { return nil }
        let tensor = try rewritten(reader, field.range) { field in field.number == 2 ? [] : nil }
        return Self.message(1, tensor + (shape.map { Self.message(2, Self.lengths($0)) } ?? []))
      }
      return Self.message(2, type)
    }
    return Self.message(port.number, content)
  }

  /// A dimension without a value is free.
  private static func lengths(_ shape: [Int?]) -> [UInt8] {
    shape.flatMap { length in
      message(1, length.map { [1 << 3] + integer(UInt64(bitPattern: Int64($0))) } ?? [])
    }
  }

  private static func message(_ number: UInt64, _ content: [UInt8]) -> [UInt8] {
    integer(number << 3 | 2) + integer(UInt64(content.count)) + content
  }

  private static func integer(_ value: UInt64) -> [UInt8] {
    var (rest, bytes) = (value, [UInt8]())
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    return bytes + [UInt8(rest)]
  }
}
