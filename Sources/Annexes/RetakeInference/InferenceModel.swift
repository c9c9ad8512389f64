/// A model that was loaded, ready to compute. Its methods may be called from several threads.
package protocol InferenceModel: ModelDescription {
  /// Computes all outputs.
  ///
  /// - Parameter tensors: One for each input, in their order.
  /// - Returns: One tensor for each output, in their order.
  /// - Throws: `InferenceError` for tensors that the model refuses and for a failed computation.
  func run(_ tensors: [ModelTensor]) throws -> [ModelTensor]
}
