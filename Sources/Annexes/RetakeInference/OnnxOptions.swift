import RetakeGraph

/// How ONNX Runtime computes a model.
///
/// Everything else is fixed: one thread, nodes one after another, no spinning, denormal numbers
/// kept, the ONNX format. `OnnxModel` says why.
package struct OnnxOptions: Hashable, Sendable {
  /// How far the library may rewrite the graph. The levels differ in the last bits of results.
  package enum Optimization: String, Hashable, Sendable, CaseIterable {
    case none, basic, extended, all
  }

  /// The provider that every library has.
  package static let cpu = ModelDevice.processor.provider
  static let cuda = "CUDAExecutionProvider"
  static let tensorRT = "TensorrtExecutionProvider"

  package var optimization: Optimization
  /// The execution provider that computes the nodes, by the library's name.
  package var provider: String
  /// The path of the engine that the provider keeps for this model; `nil` without one.
  package var engine: String?
  /// The outputs to compute, by name; `nil` means all.
  package var outputs: [String]?
  /// The shapes of inputs that are not computed in the shape that the file declares, by name.
  package var inputShapes: [String: [Int?]]

  package init(
    optimization: Optimization = .all, provider: String = OnnxOptions.cpu,
    engine: String? = nil, outputs: [String]? = nil, inputShapes: [String: [Int?]] = [:]
  ) {
    self.optimization = optimization
    self.provider = provider
    self.engine = engine
    self.outputs = outputs
    self.inputShapes = inputShapes
  }

  /// Everything on which results depend, in one line.
  var text: String {
    // Sorted, because the order of a Dictionary differs between runs.
    let shapes = inputShapes.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value.shapeText)" }
    return "optimisation=\(optimization.rawValue) provider=\(provider) threads=1"
      + shapes.joined()
  }
}
