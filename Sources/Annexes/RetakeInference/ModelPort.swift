/// An input or an output of a model.
package struct ModelPort: Hashable, Sendable {
  package var name: String
  /// `nil` for a type that no stage converts to, such as strings.
  package var type: ModelTensor.ElementType?
  /// The name of the type; also of a type that no stage converts to: `float16`, `sequence`.
  package var typeName: String
  /// The length of each dimension; `nil` if the caller chooses the length.
  package var shape: [Int?]

  /// - Parameter typeName: By default the name of `type`.
  package init(
    name: String, type: ModelTensor.ElementType?, shape: [Int?], typeName: String? = nil
  ) {
    self.name = name
    self.type = type
    self.shape = shape
    self.typeName = typeName ?? type?.rawValue ?? "unknown"
  }

  /// Whether a tensor of this shape fits.
  package func accepts(shape given: [Int]) -> Bool {
    given.count == shape.count && zip(given, shape).allSatisfy { $0 == $1 ?? $0 }
  }
}
