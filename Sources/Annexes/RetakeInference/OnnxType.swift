/// The library's numbers of types: `ONNXType` and `ONNXTensorElementDataType` in its header.
/// `TensorProto.DataType` in onnx.proto3 has the same numbers of elements.
enum OnnxType {
  static let tensor: Int32 = 1

  private static let kinds = [
    "unknown", "tensor", "sequence", "map", "opaque", "sparse tensor", "optional",
  ]
  private static let elements = [
    "undefined", "float", "uint8", "int8", "uint16", "int16", "int32", "int64", "string", "bool",
    "float16", "double", "uint32", "uint64", "complex64", "complex128", "bfloat16",
  ]

  static func kindName(_ number: Int32) -> String { name(number, kinds) }
  static func elementName(_ number: Int32) -> String { name(number, elements) }

  /// A later version may have more.
  private static func name(_ number: Int32, _ names: [String]) -> String {
    names.indices.contains(Int(number)) ? names[Int(number)] : "type \(number)"
  }
}

extension ModelTensor.ElementType {
  /// - Returns: `nil` for a type that no stage converts.
  init?(onnx number: Int32) {
    guard let type = Self.allCases.first(where: { $0.onnx == number }) else { return nil }
    self = type
  }

  var onnx: Int32 {
    switch self {
    case .float: 1
    case .uint8: 2
    case .int32: 6
    case .int64: 7
    case .double: 11
    }
  }
}
