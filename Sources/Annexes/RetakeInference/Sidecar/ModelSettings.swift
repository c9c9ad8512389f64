import RetakeCore
import RetakeMedia

/// The values in force for one model in one node, and the source of each value.
package struct ModelSettings: Sendable {
  /// The source of a value. The first source that has the value counts.
  package enum Origin: String, Hashable, Sendable, CaseIterable {
    case node
    case sidecar
    /// Text in the metadata of the model's file.
    case metadata
    /// The shape and type of the model's input.
    case shape
    case standard = "default"
  }

  /// A value that is in force.
  package struct Row: Hashable, Sendable {
    package var key: String
    /// As in a sidecar.
    package var value: String
    package var origin: Origin
  }

  /// The index of the model's input that the frame becomes.
  package let inputIndex: Int
  package let input: ImageInput
  package let decoderName: DecoderName
  package let decoderSettings: DecoderSettings
  /// All values, in the order of docs/models.md.
  package let rows: [Row]

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
    if layers.has(\.features) {
      throw ModelDocumentError.contradiction(
        model: path, key: "features", "the model reads an image; 'regress' runs models of numbers")
    }
    inputIndex = try Self.inputIndex(of: model, at: path, &layers)
    let port = model.inputs[inputIndex]
    input = try ImageInput(of: port, at: path, &layers)
    guard let decoder = layers.pick("decoder", \.decoder, \.rawValue) else {
      let (picture, labels) = (input, layers.first(\.labels) ?? [])
      let fitting = DecoderName.allCases.filter {
        $0.mayRead(model.outputs, of: picture, labels: labels)
      }
      throw Self.noDecoder(of: path, fitting: fitting)
    }
    decoderName = decoder
    decoderSettings = DecoderSettings(decoder, input, &layers)
    try decoderSettings.requireClasses(at: path)
    rows = layers.rows
  }

  /// All values in force, for keys of caches: of labels, which `rows` abbreviates, the digest.
  package var fingerprint: String {
    let labels = decoderSettings.labels.joined(separator: "\u{0}").utf8
    return rows.map { " \($0.key)=\($0.value)" }.joined() + " labels=\(Sha256.digest(of: labels))"
  }

  /// The shape in which a model computes pictures of the size in the options or the sidecar, by the
  /// name of its input; empty if it is the declared shape.
  ///
  /// Some files declare the shape of the picture that they were exported with, and compute any
  /// shape.
  package static func otherShapes(
    of model: any ModelDescription, options: ModelValues, sidecar: ModelSidecar?
  ) -> [String: [Int?]] {
    var layers = ValueLayers(options: options, sidecar: sidecar?.values ?? ModelValues())
    guard model.inputs.count == 1, let port = model.inputs.first, port.shape.count == 4,
      let size = layers.pick("size", \.size, { "\($0)" })
    else { return [:] }
    let layout = layers.pickLayout(of: port.shape)
    let channels = (layout == .nchw ? port.shape[1] : port.shape[3]) ?? 3
    let shape =
      layout == .nchw
      ? [1, channels, size.height, size.width] : [1, size.height, size.width, channels]
    return port.accepts(shape: shape) ? [:] : [port.name: shape]
  }

  /// - Parameter fitting: Decoders that read outputs of the model's shapes, as far as is known.
  private static func noDecoder(
    of path: String, fitting: [DecoderName] = []
  ) -> ModelDocumentError {
    let names = (fitting.isEmpty ? DecoderName.allCases : fitting).map(\.rawValue)
    let line =
      "Write \"output\": {\"decoder\": \"\(names.count == 1 ? names[0] : "…")\"} in "
      + ModelSidecar.path(ofModel: path)
    let choice =
      fitting.isEmpty
      ? ", one of \(names.joined(separator: ", "))"
      : names.count == 1
        ? ": no other decoder reads outputs of these shapes"
        : "; outputs of these shapes are read by \(names.joined(separator: ", "))"
    return .missing(model: path, key: "decoder", advice: line + choice)
  }

  static func inputIndex(
    of model: any ModelDescription, at path: String, _ layers: inout ValueLayers
  ) throws -> Int {
    let names = model.inputs.map(\.name)
    let only = names.count == 1 ? names[0] : nil
    guard let name = layers.pick("name", \.inputName, \.self, shape: only) else {
      throw ModelDocumentError.missing(
        model: path, key: "name",
        advice: "The model has the inputs \(names.joined(separator: ", ")); "
          + "write \"input\": {\"name\": \"…\"}")
    }
    guard let index = names.firstIndex(of: name) else {
      throw ModelDocumentError.contradiction(
        model: path, key: "name",
        "there is no input '\(name)'. \(Suggestion.advice(for: name, among: names))")
    }
    // A stage has a frame as its only value for an input.
    guard names.count == 1 else {
      throw ModelDocumentError.contradiction(
        model: path, key: "name", "it has \(counted(names.count, "input")), and a frame is one")
    }
    return index
  }

  /// The values in force as far as they are known, and the problems.
  package struct Draft: Sendable {
    /// `nil` if there are problems.
    package var settings: ModelSettings?
    package var rows: [Row]
    package var problems: [ModelDocumentError]
  }

  /// As `init`, for a person who wants to see everything that is missing at once.
  package static func draft(
    of model: any ModelDescription, at path: String, options: ModelValues = ModelValues(),
    sidecar: ModelSidecar? = nil
  ) throws -> Draft {
    var layers = ValueLayers(of: model, options, sidecar)
    do {
      let settings = try ModelSettings(of: model, at: path, &layers)
      return Draft(settings: settings, rows: settings.rows, problems: [])
    } catch let error as ModelDocumentError {
      var problems = [error]
      // The decoder comes after the input, whose error ends the search.
      if !layers.has(\.decoder), !error.isMissing("decoder") {
        problems.append(noDecoder(of: path))
      }
      return Draft(settings: nil, rows: layers.rows, problems: problems)
    }
  }

  /// The decoder, after checking it against the outputs that the model declares.
  package func decoder(
    for outputs: [ModelPort]
  ) throws -> any OutputDecoder {
    let decoder = decoderName.decoder(decoderSettings)
    try decoder.check(outputs)
    return decoder
  }
}

/// The sources of values, and a row for each value with the source that it came from.
struct ValueLayers {
  private let layers: [(origin: ModelSettings.Origin, values: ModelValues)]
  private(set) var rows: [ModelSettings.Row] = []

  init(options: ModelValues, sidecar: ModelValues, metadata: ModelValues = ModelValues()) {
    layers = [(.node, options), (.sidecar, sidecar), (.metadata, metadata)]
  }

  init(of model: any ModelDescription, _ options: ModelValues, _ sidecar: ModelSidecar?) {
    self.init(
      options: options, sidecar: sidecar?.values ?? ModelValues(),
      metadata: ModelMetadata.values(model.metadata))
  }

  /// The value of the first source that has it, without a row.
  func first<Value>(_ path: KeyPath<ModelValues, Value?>) -> Value? {
    layers.lazy.compactMap { $0.values[keyPath: path] }.first
  }

  /// Whether any source has the value.
  func has<Value>(_ path: KeyPath<ModelValues, Value?>) -> Bool {
    layers.contains { $0.values[keyPath: path] != nil }
  }

  /// Returns the value of the first source that has it and adds a row about it; `nil` if no source
  /// has it.
  mutating func pick<Value>(
    _ key: String, _ path: KeyPath<ModelValues, Value?>, _ text: (Value) -> String,
    shape: Value? = nil
  ) -> Value? {
    var found = shape.map { (origin: ModelSettings.Origin.shape, value: $0) }
    for layer in layers.reversed() {
      if let value = layer.values[keyPath: path] { found = (layer.origin, value) }
    }
    guard let found else { return nil }
    rows.append(ModelSettings.Row(key: key, value: text(found.value), origin: found.origin))
    return found.value
  }

  mutating func pick<Value>(
    _ key: String, _ path: KeyPath<ModelValues, Value?>, _ text: (Value) -> String,
    shape: Value? = nil, otherwise standard: Value
  ) -> Value {
    if let value = pick(key, path, text, shape: shape) { return value }
    rows.append(ModelSettings.Row(key: key, value: text(standard), origin: .standard))
    return standard
  }
}

extension ValueLayers {
  /// - Parameter shape: Four dimensions.
  fileprivate mutating func pickLayout(of shape: [Int?]) -> TensorLayout {
    // As Model API guesses it: few channels, many pixels.
    let isNHWC = !(1...4).contains(shape[1] ?? 0) && (1...4).contains(shape[3] ?? 0)
    return pick("layout", \.layout, \.rawValue, shape: isNHWC ? .nhwc : .nchw, otherwise: .nchw)
  }
}

extension ImageInput {
  fileprivate init(
    of port: ModelPort, at path: String, _ layers: inout ValueLayers
  ) throws {
    func contradiction(_ key: String, _ message: String) -> ModelDocumentError {
      .contradiction(model: path, key: key, message)
    }
    guard port.shape.count == 4, let type = port.type else {
      throw contradiction(
        "name",
        "the input '\(port.name)' is \(port.type == nil ? "not of numbers" : "not a picture"): "
          + "it has \(counted(port.shape.count, "dimension"))"
          + (port.shape.count <= 2 ? "; 'regress' computes models of numbers" : ""))
    }
    guard (port.shape[0] ?? 1) == 1 else {
      throw contradiction(
        "name",
        "the input '\(port.name)' reads \(counted(port.shape[0] ?? 0, "frame")) at once; "
          + "\"input\": {\"size\": [640, 480]} makes it read one, if its operators allow it")
    }
    let shape = port.shape
    let layout = layers.pickLayout(of: shape)
    let (channels, rows, columns) =
      layout == .nchw ? (shape[1], shape[2], shape[3]) : (shape[3], shape[1], shape[2])
    guard
      let size = layers.pick(
        "size", \.size, { "\($0.width)x\($0.height)" },
        shape: columns.flatMap { width in rows.map { PixelSize(width: width, height: $0) } })
    else {
      throw ModelDocumentError.missing(
        model: path, key: "size",
        advice: "The model accepts any size; write \"input\": {\"size\": [640, 480]}")
    }
    guard (columns ?? size.width) == size.width, (rows ?? size.height) == size.height else {
      throw contradiction(
        "size",
        "it is \(size.width)x\(size.height), and the model reads "
          + "\(columns.map(String.init) ?? "?")x\(rows.map(String.init) ?? "?")")
    }
    let sides = 1...ImageInput.sideMax
    guard sides.contains(size.width), sides.contains(size.height),
      size.width * size.height <= ImageInput.pixelsMax
    else {
      throw contradiction(
        "size",
        "\(size.width)x\(size.height) is too large; a side has at most \(ImageInput.sideMax) "
          + "pixels, and both together \(ImageInput.pixelsMax)")
    }
    self.init(width: size.width, height: size.height)
    (self.layout, self.type) = (layout, type)
    try pickLevels(channels: channels, at: path, &layers)
  }

  private mutating func pickLevels(
    channels: Int?, at path: String, _ layers: inout ValueLayers
  ) throws {
    resizeType = layers.pick("resize_type", \.resizeType, \.rawValue, otherwise: resizeType)
    padValue = layers.pick("pad_value", \.padValue, { "\($0)" }, otherwise: padValue)
    meanValues = layers.pick("mean_values", \.meanValues, { "\($0)" }, otherwise: meanValues)
    scaleValues = layers.pick("scale_values", \.scaleValues, { "\($0)" }, otherwise: scaleValues)
    colorSpace = layers.pick(
      "color_space", \.colorSpace, \.rawValue, shape: channels == 1 ? .gray : nil,
      otherwise: colorSpace)
    interpolation = layers.pick(
      "interpolation", \.interpolation, \.rawValue, otherwise: interpolation)
    guard (channels ?? colorSpace.channels) == colorSpace.channels else {
      throw ModelDocumentError.contradiction(
        model: path, key: "color_space",
        "\(colorSpace.rawValue) has \(counted(colorSpace.channels, "channel")), and the model "
          + "reads "
          + "\(channels ?? 0)")
    }
    for (key, count) in [("mean_values", meanValues.count), ("scale_values", scaleValues.count)]
    where count != 1 && count != colorSpace.channels {
      throw ModelDocumentError.contradiction(
        model: path, key: key,
        "it has \(counted(count, "number")) for "
          + "\(counted(colorSpace.channels, "channel"))")
    }
  }
}

extension DecoderSettings {
  fileprivate init(_ decoder: DecoderName, _ input: ImageInput, _ layers: inout ValueLayers) {
    self.init(width: input.width, height: input.height)
    let own = decoder.defaults
    if decoder != .regression {
      confidenceThreshold = layers.pick(
        "confidence_threshold", \.confidenceThreshold, { "\($0)" }, otherwise: own.confidence)
    }
    if decoder.suppresses {
      iouThreshold = layers.pick(
        "iou_threshold", \.iouThreshold, { "\($0)" }, otherwise: own.iou)
      isClassAgnostic = layers.pick(
        "agnostic_nms", \.isClassAgnostic, { "\($0)" }, otherwise: isClassAgnostic)
    }
    if decoder.findsBoxes {
      maxDetections = layers.pick(
        "max_detections", \.maxDetections, { "\($0)" }, otherwise: maxDetections)
    }
    switch decoder {
    case .softmax, .probabilities:
      topK = layers.pick("topk", \.topK, { "\($0)" }, otherwise: topK)
    case .yolox, .ssdAnchors:
      strides = layers.pick("strides", \.strides, { "\($0)" }, otherwise: own.strides)
    case .dbText:
      pixelThreshold = layers.pick(
        "pixel_threshold", \.pixelThreshold, { "\($0)" }, otherwise: pixelThreshold)
      unclipRatio = layers.pick(
        "unclip_ratio", \.unclipRatio, { "\($0)" }, otherwise: unclipRatio)
      usesDilation = layers.pick(
        "use_dilation", \.usesDilation, { "\($0)" }, otherwise: usesDilation)
    default: break
    }
    labels = layers.pick("labels", \.labels, Self.text, otherwise: own.labels)
    // No row if no source has the value: all classes are kept.
    if decoder.findsBoxes { classes = layers.pick("classes", \.classes, Self.text) ?? [] }
  }

  fileprivate func requireClasses(at path: String) throws {
    guard let odd = classes.first(where: { !labels.contains($0) }) else { return }
    throw ModelDocumentError.contradiction(
      model: path, key: "classes",
      labels.isEmpty
        ? "it has no labels; write \"labels\": [\"\(odd)\"] in \(ModelSidecar.path(ofModel: path))"
        : "there is no class '\(odd)'. \(Suggestion.advice(for: odd, among: labels))")
  }

  /// The first labels: a text model has thousands.
  static func text(_ labels: [String]) -> String {
    let shown = labels.prefix(5).joined(separator: ", ")
    return labels.count > 5 ? "\(shown), … (\(labels.count))" : shown
  }
}

extension ModelDocumentError {
  fileprivate func isMissing(_ key: String) -> Bool {
    guard case .missing(_, key, _) = self else { return false }
    return true
  }
}

extension DecoderName {
  /// Whether a decoder may be the right one for these outputs, by their shapes alone.
  fileprivate func mayRead(
    _ outputs: [ModelPort], of input: ImageInput, labels: [String]
  ) -> Bool {
    // The decoder cannot read without labels, which a sidecar may add together with the decoder.
    if self == .ctcText, labels.isEmpty {
      return outputs.count == 1 && outputs[0].shape.count == 3
    }
    var settings = DecoderSettings(width: input.width, height: input.height)
    (settings.labels, settings.strides) = (labels, defaults.strides)
    let decoder = decoder(settings)
    return (try? decoder.check(outputs)) != nil
  }

  /// The kind of result that a decoder returns; see `Decoded`.
  package enum Result: Hashable, Sendable {
    case detections, classes, scalars

    /// In messages.
    package var word: String {
      switch self {
      case .detections: "boxes"
      case .classes: "classes"
      case .scalars: "numbers"
      }
    }
  }

  package var result: Result {
    switch self {
    case .boxes, .yoloV5, .yoloV8, .yolox, .ssdAnchors, .centerface, .dbText: .detections
    case .ctcText, .softmax, .sigmoidMultilabel, .probabilities: .classes
    case .regression: .scalars
    }
  }

  var findsBoxes: Bool { result == .detections }

  /// Whether boxes that overlap are removed.
  var suppresses: Bool { findsBoxes && self != .boxes && self != .dbText }

  /// The values that the models' own programs use.
  var defaults: (confidence: Double, iou: Double, strides: [Int], labels: [String]) {
    switch self {
    case .boxes: (0.25, 1, [], [])
    case .yoloV5: (0.25, 0.45, [], [])
    case .yoloV8: (0.25, 0.7, [], [])
    case .yolox: (0.3, 0.45, [8, 16, 32], [])
    case .ssdAnchors: (0.5, 0.3, [8, 16, 16, 16], ["face"])
    case .centerface: (0.5, 0.3, [], ["face"])
    case .dbText: (0.5, 1, [], ["text"])
    case .sigmoidMultilabel: (0.5, 1, [], [])
    case .ctcText, .softmax, .probabilities, .regression: (0, 1, [], [])
    }
  }
}
