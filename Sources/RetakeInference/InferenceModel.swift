/// An input or an output of a model.
package struct ModelPort: Hashable, Sendable {
  package var name: String
  /// `nil` for a type that no stage converts to, such as strings.
  package var type: Tensor.ElementType?
  /// The length of each dimension; `nil` for one that the caller chooses.
  package var shape: [Int?]

  package init(name: String, type: Tensor.ElementType?, shape: [Int?]) {
    self.name = name
    self.type = type
    self.shape = shape
  }
}

/// A model that was loaded, ready to compute. Its methods may be called from several threads.
package protocol InferenceModel: Sendable {
  /// In the order of the model's file.
  var inputs: [ModelPort] { get }
  var outputs: [ModelPort] { get }
  /// What the file says about itself, by key: class names, for example.
  var metadata: [String: String] { get }

  /// Computes all outputs.
  ///
  /// - Parameter tensors: One for each input, in their order.
  /// - Returns: One tensor for each output, in their order.
  /// - Throws: `InferenceError` for tensors that the model refuses and for a failed computation.
  func run(_ tensors: [Tensor]) throws(InferenceError) -> [Tensor]
}
