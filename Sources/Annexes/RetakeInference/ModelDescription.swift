/// What a model's file declares.
package protocol ModelDescription: Sendable {
  /// In the order of the model's file.
  var inputs: [ModelPort] { get }
  var outputs: [ModelPort] { get }
  /// What the file says about itself, by key: class names, for example.
  var metadata: [String: String] { get }
}
