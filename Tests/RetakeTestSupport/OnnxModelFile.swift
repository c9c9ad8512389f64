import Foundation

/// Writes models in ONNX's format, so that tests need neither Python nor files of others.
///
/// Field numbers follow onnx.proto3 in the repository of ONNX.
package struct OnnxModelFile {
  /// `TensorProto.DataType`.
  package enum Element: UInt64, Sendable {
    case float = 1
    case uint8, int8
    case int32 = 6
    case int64, string, bool, float16, double
  }

  /// The length of a dimension.
  package enum Length: ExpressibleByIntegerLiteral, ExpressibleByStringLiteral {
    case fixed(Int64)
    case free(String)

    package init(integerLiteral value: Int64) { self = .fixed(value) }
    package init(stringLiteral value: String) { self = .free(value) }
  }

  package struct Port {
    var bytes: [UInt8]
  }

  package struct Node {
    var bytes: [UInt8]
  }

  package struct Constant {
    var bytes: [UInt8]
  }

  package enum Attribute {
    case integer(Int64)
    case integers([Int64])
    case floats([Float])
    case string(String)
    case strings([String])
    case tensor(Constant)
  }

  package var inputs: [Port] = []
  package var outputs: [Port] = []
  package var constants: [Constant] = []
  package var nodes: [Node] = []
  package var metadata: [(key: String, value: String)] = []
  package var opset: UInt64 = 13
  package var producer = (name: "", version: "")

  package init(
    inputs: [Port], outputs: [Port], constants: [Constant] = [], nodes: [Node]
  ) {
    self.inputs = inputs
    self.outputs = outputs
    self.constants = constants
    self.nodes = nodes
  }

  /// The content of the file.
  package var bytes: [UInt8] {
    var graph = OnnxMessage()
    for node in nodes { graph.bytes(1, node.bytes) }
    graph.text(2, "made by a test")
    for constant in constants { graph.bytes(5, constant.bytes) }
    for port in inputs { graph.bytes(11, port.bytes) }
    for port in outputs { graph.bytes(12, port.bytes) }
    var model = OnnxMessage()
    model.integer(1, 8)
    if !producer.name.isEmpty { model.text(2, producer.name) }
    if !producer.version.isEmpty { model.text(3, producer.version) }
    model.bytes(7, graph.content)
    for (domain, version) in [("", opset), ("ai.onnx.ml", 3)] {
      model.message(8) {
        $0.text(1, domain)
        $0.integer(2, version)
      }
    }
    for entry in metadata {
      model.message(14) {
        $0.text(1, entry.key)
        $0.text(2, entry.value)
      }
    }
    return model.content
  }

  /// Writes the file into a folder.
  @discardableResult
  package func write(to url: URL) throws -> String {
    try Data(bytes).write(to: url)
    return url.path
  }
}

extension OnnxModelFile.Port {
  /// An input or output that is a tensor.
  package init(_ name: String, _ type: OnnxModelFile.Element, _ shape: [OnnxModelFile.Length]) {
    var port = OnnxMessage()
    port.text(1, name)
    port.message(2) { $0.bytes(1, Self.tensor(type, shape)) }
    bytes = port.content
  }

  /// An output that is a sequence of maps from a class to its probability.
  package init(sequenceOfMaps name: String) {
    var port = OnnxMessage()
    port.text(1, name)
    port.message(2) { type in
      type.message(4) { sequence in
        sequence.message(1) { element in
          element.message(5) { map in
            map.integer(1, OnnxModelFile.Element.int64.rawValue)
            map.message(2) { $0.bytes(1, Self.tensor(.float, [])) }
          }
        }
      }
    }
    bytes = port.content
  }

  private static func tensor(
    _ type: OnnxModelFile.Element, _ shape: [OnnxModelFile.Length]
  ) -> [UInt8] {
    var tensor = OnnxMessage()
    tensor.integer(1, type.rawValue)
    tensor.message(2) { list in
      for length in shape {
        list.message(1) { dimension in
          switch length {
          case .fixed(let count): dimension.integer(1, UInt64(bitPattern: count))
          case .free(let name): dimension.text(2, name)
          }
        }
      }
    }
    return tensor.content
  }
}

extension OnnxModelFile.Node {
  package init(
    _ type: String, domain: String = "", inputs: [String], outputs: [String],
    _ attributes: KeyValuePairs<String, OnnxModelFile.Attribute> = [:]
  ) {
    var node = OnnxMessage()
    for name in inputs { node.text(1, name) }
    for name in outputs { node.text(2, name) }
    node.text(4, type)
    for (name, attribute) in attributes {
      node.message(5) {
        $0.text(1, name)
        attribute.write(to: &$0)
      }
    }
    node.text(7, domain)
    bytes = node.content
  }
}

extension OnnxModelFile.Attribute {
  fileprivate func write(to message: inout OnnxMessage) {
    // Field 20 is the kind: AttributeProto.AttributeType.
    switch self {
    case .integer(let value):
      message.integer(3, UInt64(bitPattern: value))
      message.integer(20, 2)
    case .string(let value):
      message.text(4, value)
      message.integer(20, 3)
    case .tensor(let value):
      message.bytes(5, value.bytes)
      message.integer(20, 4)
    case .floats(let values):
      for value in values { message.float(7, value) }
      message.integer(20, 6)
    case .integers(let values):
      for value in values { message.integer(8, UInt64(bitPattern: value)) }
      message.integer(20, 7)
    case .strings(let values):
      for value in values { message.text(9, value) }
      message.integer(20, 8)
    }
  }
}

extension OnnxModelFile.Constant {
  package init(_ name: String, _ values: [Float], shape: [Int64]) {
    self.init(name, .float, shape, values.flatMap { Self.raw($0.bitPattern) })
  }

  package init(_ name: String, _ values: [Int64], shape: [Int64]) {
    self.init(name, .int64, shape, values.flatMap { Self.raw($0) })
  }

  /// Numbers that are in another file.
  package init(_ name: String, shape: [Int64], inFile file: String) {
    var tensor = OnnxMessage()
    for length in shape { tensor.integer(1, UInt64(bitPattern: length)) }
    tensor.integer(2, OnnxModelFile.Element.float.rawValue)
    tensor.text(8, name)
    tensor.message(13) {
      $0.text(1, "location")
      $0.text(2, file)
    }
    tensor.integer(14, 1)
    bytes = tensor.content
  }

  private init(
    _ name: String, _ type: OnnxModelFile.Element, _ shape: [Int64], _ raw: [UInt8]
  ) {
    var tensor = OnnxMessage()
    for length in shape { tensor.integer(1, UInt64(bitPattern: length)) }
    tensor.integer(2, type.rawValue)
    tensor.text(8, name)
    tensor.bytes(9, raw)
    bytes = tensor.content
  }

  private static func raw(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian, Array.init)
  }
}

/// A message of protocol buffers.
private struct OnnxMessage {
  private(set) var content: [UInt8] = []

  mutating func integer(_ field: UInt64, _ value: UInt64) {
    append(field << 3)
    append(value)
  }

  mutating func float(_ field: UInt64, _ value: Float) {
    append(field << 3 | 5)
    content += withUnsafeBytes(of: value.bitPattern.littleEndian, Array.init)
  }

  mutating func text(_ field: UInt64, _ value: String) { bytes(field, Array(value.utf8)) }

  mutating func bytes(_ field: UInt64, _ value: [UInt8]) {
    append(field << 3 | 2)
    append(UInt64(value.count))
    content += value
  }

  mutating func message(_ field: UInt64, _ fill: (inout OnnxMessage) -> Void) {
    var message = OnnxMessage()
    fill(&message)
    bytes(field, message.content)
  }

  private mutating func append(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      content.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    content.append(UInt8(rest))
  }
}
