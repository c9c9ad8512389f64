/// Checks the bytes of a model before the library reads them.
///
/// A model is a message of protocol buffers (protobuf.dev/programming-guides/encoding). The field
/// numbers come from onnx.proto3 in the repository of ONNX.
struct OnnxFile {
  enum Problem: Error, Hashable {
    /// The bytes are not a message, or the message is cut off.
    case malformed(String)
    /// The numbers of a tensor are in another file. The library would read that file when it
    /// creates the session, and the model's digest would not cover its bytes.
    case external(String)
  }

  /// The messages that lead to a tensor.
  private enum Message {
    case model, graph, node, attribute, function, sparse, tensor

    /// The kind of message in a field of this message; `nil` if the field leads to no tensor.
    func content(of field: UInt64) -> Message? {
      switch (self, field) {
      case (.model, 7): .graph
      case (.model, 25): .function
      case (.graph, 1), (.function, 7): .node
      case (.graph, 5), (.attribute, 5), (.attribute, 10), (.sparse, 1), (.sparse, 2): .tensor
      case (.graph, 15), (.attribute, 22), (.attribute, 23): .sparse
      case (.node, 5): .attribute
      case (.attribute, 6), (.attribute, 11): .graph
      default: nil
      }
    }
  }

  /// The maximum nesting of messages. Each branch of an `If` adds three levels.
  static let depthMax = 96

  private let reader: ProtobufReader

  init(_ bytes: [UInt8]) { reader = ProtobufReader(bytes) }

  func check() throws {
    guard !reader.bytes.isEmpty else { throw Problem.malformed("it is empty") }
    try check(.model, reader.bytes.indices, depth: 0)
  }

  private func check(_ message: Message, _ range: Range<Int>, depth: Int) throws {
    guard depth <= Self.depthMax else {
      throw Problem.malformed("its graphs are nested too deeply")
    }
    var (isExternal, file) = (false, "")
    try forEachField(in: range) { field in
      if let content = message.content(of: field.number) {
        guard field.isBytes else { throw Problem.malformed("a field has the wrong type") }
        try check(content, field.range, depth: depth + 1)
      } else if message == .tensor, field.number == 14 {
        isExternal = field.value == 1
      } else if message == .tensor, field.number == 13, file.isEmpty {
        file = try location(field.range) ?? ""
      }
    }
    if isExternal { throw Problem.external(file) }
  }

  /// The path in an entry of `external_data`; `nil` for an entry with another key.
  private func location(_ range: Range<Int>) throws -> String? {
    var (key, value) = ("", "")
    try forEachField(in: range) { field in
      if field.number == 1 {
        key = reader.text(field)
      } else if field.number == 2 {
        value = reader.text(field)
      }
    }
    return key == "location" ? value : nil
  }

  private func forEachField(
    in range: Range<Int>, _ body: (ProtobufReader.Field) throws -> Void
  ) throws {
    do {
      try reader.forEachField(in: range, body)
    } catch let malformed as ProtobufReader.Malformed {
      throw Problem.malformed(malformed.cause)
    }
  }
}
