import Foundation
import RetakeInference
import RetakeTestSupport

/// The library on this machine; `nil` without a library.
let installedLibrary = try? OnnxLibrary.load()

/// Small models, and the folder in which they are written.
struct Models {
  typealias Attribute = OnnxModelFile.Attribute
  typealias Constant = OnnxModelFile.Constant
  typealias Node = OnnxModelFile.Node
  typealias Port = OnnxModelFile.Port

  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder("retake-models") }

  func load(
    _ model: OnnxModelFile, options: OnnxOptions = OnnxOptions()
  ) throws -> OnnxModel {
    try load(bytes: model.bytes, options: options)
  }

  func load(bytes: [UInt8], options: OnnxOptions = OnnxOptions()) throws -> OnnxModel {
    let file = folder.file("model.onnx")
    try Data(bytes).write(to: file)
    return try OnnxModel(path: file.path, options: options, library: try OnnxLibrary.load())
  }

  /// The error of loading a refused model.
  func refusal(
    _ model: OnnxModelFile, options: OnnxOptions = OnnxOptions()
  ) throws -> InferenceError? {
    try refusal(bytes: model.bytes, options: options)
  }

  func refusal(
    bytes: [UInt8], options: OnnxOptions = OnnxOptions()
  ) throws -> InferenceError? {
    do {
      _ = try load(bytes: bytes, options: options)
      return nil
    } catch {
      return error as? InferenceError
    }
  }

  /// `y = relu(a + b)` for two inputs of any width.
  static let sum = OnnxModelFile(
    inputs: [Port("a", .float, [1, "width"]), Port("b", .float, [1, "width"])],
    outputs: [Port("y", .float, [1, "width"])],
    nodes: [
      Node("Add", inputs: ["a", "b"], outputs: ["sum"]),
      Node("Relu", inputs: ["sum"], outputs: ["y"]),
    ])

  /// `y = x · w`, with a batch of any size.
  static let product = OnnxModelFile(
    inputs: [Port("x", .float, ["batch", 2])], outputs: [Port("y", .float, ["batch", 3])],
    constants: [Constant("w", [1, 2, 3, 4, 5, 6] as [Float], shape: [2, 3])],
    nodes: [Node("MatMul", inputs: ["x", "w"], outputs: ["y"])])

  static func identity(
    _ type: OnnxModelFile.Element, _ shape: [OnnxModelFile.Length] = [3]
  ) -> OnnxModelFile {
    OnnxModelFile(
      inputs: [Port("x", type, shape)], outputs: [Port("y", type, shape)],
      nodes: [Node("Identity", inputs: ["x"], outputs: ["y"])])
  }

  /// Convolutions and a product large enough that the library's kernels for wide registers work.
  static func network(seed: UInt64) -> OnnxModelFile {
    var generator = SeededGenerator(seed: seed)
    func weights(_ count: Int) -> [Float] {
      (0..<count).map { _ in Float(generator.pick(-1000...1000)) / 1700 }
    }
    return OnnxModelFile(
      inputs: [Port("x", .float, [1, 3, 24, 24])], outputs: [Port("y", .float, [1, 10])],
      constants: [
        Constant("k1", weights(16 * 3 * 9), shape: [16, 3, 3, 3]),
        Constant("b1", weights(16), shape: [16]),
        Constant("k2", weights(16 * 16 * 9), shape: [16, 16, 3, 3]),
        Constant("w", weights(16 * 10), shape: [16, 10]),
      ],
      nodes: [
        Node(
          "Conv", inputs: ["x", "k1", "b1"], outputs: ["c1"], ["pads": .integers([1, 1, 1, 1])]),
        Node("Sigmoid", inputs: ["c1"], outputs: ["s1"]),
        Node("Conv", inputs: ["s1", "k2"], outputs: ["c2"], ["pads": .integers([1, 1, 1, 1])]),
        Node("GlobalAveragePool", inputs: ["c2"], outputs: ["mean"]),
        Node("Flatten", inputs: ["mean"], outputs: ["flat"]),
        Node("MatMul", inputs: ["flat", "w"], outputs: ["scores"]),
        Node("Softmax", inputs: ["scores"], outputs: ["y"]),
      ])
  }

  /// A classifier as scikit-learn exports it: the class, and a map of probabilities.
  static let classifier = OnnxModelFile(
    inputs: [Port("x", .float, ["batch", 2])],
    outputs: [Port("label", .int64, ["batch"]), Port(sequenceOfMaps: "probabilities")],
    nodes: [
      Node(
        "LinearClassifier", domain: "ai.onnx.ml", inputs: ["x"], outputs: ["label", "scores"],
        [
          "coefficients": .floats([1, 0, 0, 1]), "intercepts": .floats([0, 0]),
          "classlabels_ints": .integers([7, 8]), "post_transform": .string("SOFTMAX"),
        ]),
      Node(
        "ZipMap", domain: "ai.onnx.ml", inputs: ["scores"], outputs: ["probabilities"],
        ["classlabels_int64s": .integers([7, 8])]),
    ])
}
