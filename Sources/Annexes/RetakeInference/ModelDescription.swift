/// The inputs, outputs and metadata that a model's file declares.
package protocol ModelDescription: Sendable {
  /// In the order of the model's file.
  var inputs: [ModelPort] { get }
  var outputs: [ModelPort] { get }
  /// The metadata in the file, by key: class names, for example.
  var metadata: [String: String] { get }
}
