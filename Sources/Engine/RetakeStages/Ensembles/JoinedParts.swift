import RetakeGraph

extension Joined {
  /// The parts that arrived, all of one type.
  ///
  /// - Throws: `ensemble.otherType` for a part of another type.
  func parts<Value: PipelineValue>(all type: Value.Type) throws -> [Value] {
    try namedParts(all: type).map(\.value)
  }

  /// The same, each with the name of its port.
  func namedParts<Value: PipelineValue>(
    all type: Value.Type
  ) throws -> [(port: String, value: Value)] {
    var values: [(port: String, value: Value)] = []
    for part in parts {
      // A join with the mode `any` continues without the parts that are missing.
      guard let given = part.value else { continue }
      guard let value = given as? Value else {
        let kind = Swift.type(of: given).valueKind
        throw StageError(
          code: "ensemble.otherType",
          message: "the port '\(part.port)' received \(kind), not \(type.valueKind)")
      }
      values.append((part.port, value))
    }
    return values
  }
}
