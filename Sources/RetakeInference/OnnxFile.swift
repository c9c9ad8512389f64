/// Checks the bytes of a model before the library reads them.
///
/// A model is a message of protocol buffers (protobuf.dev/programming-guides/encoding). The numbers
/// of the fields are those of onnx.proto3 in the repository of ONNX.
struct OnnxFile {
  enum Problem: Error, Hashable {
    /// Not a message, or one that was cut off.
    case malformed(String)
    /// The numbers of a tensor are in another file. The library would read it when the session is
    /// made, and the model's digest would say nothing about it.
    case external(String)
  }

  /// The messages that lead to a tensor.
  private enum Message {
    case model, graph, node, attribute, function, sparse, tensor

    /// What a field of this message contains; `nil` for everything that leads to no tensor.
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

  /// The most messages inside each other; each branch of an `If` takes three.
  static let depthMax = 96

  private let bytes: [UInt8]

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func check() throws(Problem) {
    guard !bytes.isEmpty else { throw .malformed("it is empty") }
    try check(.model, bytes.indices, depth: 0)
  }

  private func check(_ message: Message, _ range: Range<Int>, depth: Int) throws(Problem) {
    guard depth <= Self.depthMax else { throw .malformed("its graphs are nested too deeply") }
    var (isExternal, file) = (false, "")
    var place = range.lowerBound
    // Ends: each round reads at least one byte.
    while place < range.upperBound {
      let field = try field(at: &place, end: range.upperBound)
      if let content = message.content(of: field.number) {
        guard field.isBytes else { throw .malformed("a field has the wrong type") }
        try check(content, field.range, depth: depth + 1)
      } else if message == .tensor, field.number == 14 {
        isExternal = field.value == 1
      } else if message == .tensor, field.number == 13, file.isEmpty {
        file = try location(field.range) ?? ""
      }
    }
    if isExternal { throw .external(file) }
  }

  /// The path in an entry of `external_data`; `nil` for an entry that says something else.
  private func location(_ range: Range<Int>) throws(Problem) -> String? {
    var (key, value) = ("", "")
    var place = range.lowerBound
    while place < range.upperBound {
      let field = try field(at: &place, end: range.upperBound)
      let text = String(decoding: bytes[field.range], as: UTF8.self)
      if field.number == 1 { key = text } else if field.number == 2 { value = text }
    }
    return key == "location" ? value : nil
  }

  private struct Field {
    var number: UInt64
    /// Of an integer.
    var value: UInt64 = 0
    /// Of bytes, strings and messages.
    var range = 0..<0
    var isBytes = false
  }

  private func field(at place: inout Int, end: Int) throws(Problem) -> Field {
    let tag = try integer(at: &place, end: end)
    var field = Field(number: tag >> 3)
    guard field.number > 0 else { throw .malformed("it is not a model") }
    switch tag & 7 {
    case 0: field.value = try integer(at: &place, end: end)
    case 1: try skip(8, at: &place, end: end)
    case 2:
      let count = try integer(at: &place, end: end)
      let start = place
      try skip(count, at: &place, end: end)
      (field.range, field.isBytes) = (start..<place, true)
    case 5: try skip(4, at: &place, end: end)
    default: throw .malformed("it is not a model")
    }
    return field
  }

  private func skip(_ count: UInt64, at place: inout Int, end: Int) throws(Problem) {
    guard count <= UInt64(end - place) else { throw .malformed("it was cut off") }
    place += Int(count)
  }

  /// Seven bits in each byte, the lowest first, in at most ten bytes.
  private func integer(at place: inout Int, end: Int) throws(Problem) -> UInt64 {
    var value: UInt64 = 0
    for shift in stride(from: 0, to: 70, by: 7) {
      guard place < end else { throw .malformed("it was cut off") }
      let byte = bytes[place]
      place += 1
      value |= UInt64(byte & 0x7f) << shift
      if byte < 0x80 { return value }
    }
    throw .malformed("it is not a model")
  }
}
