package import RetakeCore
import RetakeMedia

/// Converts scalars to the input of a model that reads a list of numbers, such as a tree ensemble,
/// and its output to scalars.
package struct FeatureModel: Sendable {
  /// The names of the numbers that the model reads, in its order.
  package let features: [String]
  /// The values in force, in the order of docs/models.md.
  package let rows: [ModelSettings.Row]
  private let type: ModelTensor.ElementType
  /// `1xn` or `n`.
  private let shape: [Int]
  private let decoder: RegressionDecoder
  private let labels: [String]

  /// - Parameter options: The values in the node's options.
  /// - Throws: `ModelDocumentError` for a value that is missing or does not fit.
  package init(
    of model: any ModelDescription, at path: String, options: ModelValues = ModelValues(),
    sidecar: ModelSidecar? = nil
  ) throws {
    var layers = ValueLayers(of: model, options, sidecar)
    try self.init(of: model, at: path, &layers)
  }

  private init(
    of model: any ModelDescription, at path: String, _ layers: inout ValueLayers
  ) throws {
    let port = model.inputs[try ModelSettings.inputIndex(of: model, at: path, &layers)]
    guard let type = port.type, type == .float || type == .double else {
      throw ModelDocumentError.contradiction(
        model: path, key: "name",
        "it reads \(port.typeName), and numbers are given as float or double")
    }
    guard Self.isList(port.shape) else {
      throw ModelDocumentError.contradiction(
        model: path, key: "name",
        "the input '\(port.name)' has the shape \(port.shape.shapeText), and a list of numbers is "
          + "1xn; 'detect', 'classify' and 'infer' run models of images")
    }
    if let key = layers.pictureKey {
      throw ModelDocumentError.contradiction(
        model: path, key: key, "the model reads numbers, not an image")
    }
    guard let features = layers.pick("features", \.features, DecoderSettings.text) else {
      throw ModelDocumentError.missing(
        model: path, key: "features",
        advice: "Write \"input\": {\"features\": [\"bpm\", …]}: the names of the numbers that the "
          + "model reads, in its order")
    }
    if let count = port.shape.last ?? nil, count != features.count {
      throw ModelDocumentError.contradiction(
        model: path, key: "features",
        "it has \(counted(features.count, "name")), and the model reads "
          + "\(counted(count, "number"))")
    }
    let decoder = layers.pick("decoder", \.decoder, \.rawValue, otherwise: .regression)
    guard decoder == .regression else {
      throw ModelDocumentError.contradiction(
        model: path, key: "decoder",
        "'\(decoder.rawValue)' makes no numbers; leave it out, or write \"regression\"")
    }
    var settings = DecoderSettings(width: 0, height: 0)
    settings.labels = layers.pick("labels", \.labels, DecoderSettings.text, otherwise: [])
    (self.features, self.type, rows) = (features, type, layers.rows)
    shape = port.shape.count == 1 ? [features.count] : [1, features.count]
    labels = settings.labels
    self.decoder = RegressionDecoder(settings)
  }

  /// Whether a model reads a list of numbers, and not a picture.
  package static func fits(_ model: any ModelDescription) -> Bool {
    model.inputs.count == 1 && isList(model.inputs[0].shape)
  }

  private static func isList(_ shape: [Int?]) -> Bool {
    shape.count == 1 || shape.count == 2 && (shape[0] ?? 1) == 1
  }

  /// All values in force, for keys of caches.
  package var fingerprint: String {
    let names = (features + [""] + labels).joined(separator: "\u{0}").utf8
    return rows.map { " \($0.key)=\($0.value)" }.joined() + " names=\(Sha256.digest(of: names))"
  }

  /// Checks the model's outputs before its first frame.
  package func check(_ outputs: [ModelPort]) throws {
    try decoder.check(outputs)
  }

  /// The model's input.
  ///
  /// - Throws: `inference.feature.missing`, `inference.feature.notFinite`.
  package func tensor(_ scalars: Scalars) throws -> ModelTensor {
    var numbers: [Double] = []
    for name in features {
      guard let number = scalars[name] else {
        let available = scalars.entries.map(\.name)
        throw InferenceError(
          "inference.feature.missing", "the frame has no number '\(name.shortened)'",
          advice: available.isEmpty ? "The frame has no numbers" : "It has \(available.quotedList)")
      }
      guard number.isFinite else {
        throw InferenceError(
          "inference.feature.notFinite", "the number '\(name.shortened)' is \(number)")
      }
      numbers.append(number)
    }
    return ModelTensor(
      type == .float ? .float(numbers.map { Float($0) }) : .double(numbers), shape: shape)
  }

  /// The numbers of the model's output.
  package func scalars(_ outputs: [ModelTensor]) throws -> Scalars {
    try decoder.scalars(outputs)
  }
}

extension FeatureModel {
  /// The values in force up to the first problem, and the problem.
  package struct Draft: Sendable {
    /// `nil` if there is a problem.
    package var model: FeatureModel?
    package var rows: [ModelSettings.Row]
    package var problem: ModelDocumentError?
  }

  /// As `init`, for a person.
  package static func draft(
    of model: any ModelDescription, at path: String, options: ModelValues, sidecar: ModelSidecar?
  ) throws -> Draft {
    var layers = ValueLayers(of: model, options, sidecar)
    do {
      let features = try FeatureModel(of: model, at: path, &layers)
      return Draft(model: features, rows: features.rows)
    } catch let error as ModelDocumentError {
      return Draft(rows: layers.rows, problem: error)
    }
  }
}

extension ValueLayers {
  /// A value that is given and belongs to pictures.
  fileprivate var pictureKey: String? {
    let given: [(String, Bool)] = [
      ("layout", has(\.layout)), ("size", has(\.size)), ("resize_type", has(\.resizeType)),
      ("pad_value", has(\.padValue)), ("mean_values", has(\.meanValues)),
      ("scale_values", has(\.scaleValues)), ("color_space", has(\.colorSpace)),
      ("interpolation", has(\.interpolation)),
    ]
    return given.first { $0.1 }?.0
  }
}
