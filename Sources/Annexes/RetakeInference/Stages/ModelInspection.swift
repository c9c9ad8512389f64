import RetakeCore
import RetakeMedia

/// The declarations in a model's file, and the values in force for it. Without a library, this
/// covers the structure of the file and the sidecar; with a library, also whether it can compute
/// the model.
package struct ModelInspection: Hashable, Sendable, Encodable {
  /// An input or an output.
  package struct Port: Hashable, Sendable, Encodable {
    package let name: String
    package let type: String
    /// `nil` for a length that the caller chooses.
    package let shape: [Int?]

    /// `[1, 3, ?, ?]`.
    package var shapeText: String { shape.shapeText }
  }

  package struct Opset: Hashable, Sendable, Encodable {
    package let domain: String
    package let version: Int
  }

  /// A value that is in force, written as in a sidecar, and its source.
  package struct Row: Hashable, Sendable, Encodable {
    package let key: String
    package let value: String
    package let origin: String
  }

  /// Why the model cannot be used yet.
  package struct Problem: Hashable, Sendable, Encodable {
    package let code: String
    package let message: String
    package let cause: String?
    package let advice: String?
  }

  package let file: String
  package let bytes: Int
  package let sha256: String
  /// The version of the file's format.
  package let formatVersion: Int
  /// The program that wrote the file; empty if it does not say.
  package let producer: String
  package let opsets: [Opset]
  /// As the file declares them.
  package let inputs: [Port]
  package let outputs: [Port]
  package let metadata: [String: String]
  /// The path of the sidecar; `nil` if there is no sidecar.
  package let sidecar: String?
  /// `nil` if no library can be used; `problems` says why.
  package let library: ModelLibrary?
  /// Models compute the same bits on all processors of one class.
  package let kernels: String
  /// In the order of docs/models.md; if there is a problem, only the settings before the first
  /// problem.
  package let settings: [Row]
  package let problems: [Problem]

  /// Reads the model's file, and the sidecar next to it.
  ///
  /// - Parameter options: The model's path, and the node's options for it.
  /// - Throws: `InferenceError` for a file that is not a model, `ModelDocumentError` for a sidecar
  ///   that cannot be read, `OptionError` for options that no model has. Everything else is among
  ///   `problems`.
  package init(of options: ModelOptions) throws {
    let path = options.model
    let values = try options.values()
    let content = try OnnxModel.read(path)
    let document = try ModelSidecar.read(nextTo: path)
    let outline = try OnnxOutline(content, model: path)
    file = path
    (bytes, sha256) = (content.count, Sha256.digest(of: content))
    (formatVersion, producer) = (outline.formatVersion, outline.producer)
    opsets = outline.opsets.map { Opset(domain: $0.domain, version: $0.version) }
    (inputs, outputs) = (outline.inputs.map(Port.init), outline.outputs.map(Port.init))
    metadata = outline.metadata
    sidecar = document == nil ? nil : ModelSidecar.path(ofModel: path)
    kernels = KernelClass.current.rawValue
    let library = Result { try OnnxLibrary.load() }
    self.library = (try? library.get()).map { ModelLibrary($0) }
    var findings = Findings(
      path: path, provider: options.provider, values: values, sha256: sha256, sidecar: document)
    switch library {
    case .success(let library): try findings.load(content, outline, library)
    case .failure(let error):
      findings.add(error)
      try findings.draft(of: outline, ports: nil)
    }
    (settings, problems) = (findings.rows, findings.problems)
  }
}

extension ModelInspection.Port {
  init(_ port: ModelPort) {
    self.init(name: port.name, type: port.typeName, shape: port.shape)
  }
}

extension ModelInspection.Row {
  init(_ row: ModelSettings.Row) {
    self.init(key: row.key, value: row.value, origin: row.origin.rawValue)
  }
}

extension ModelInspection.Problem {
  init(_ error: any Error) {
    guard let facts = (error as? any RetakeError)?.facts else {
      self.init(code: "", message: error.causeText, cause: nil, advice: nil)
      return
    }
    self.init(
      code: facts.code, message: facts.message, cause: facts.cause, advice: facts.advice)
  }
}

/// Collects the findings about one model.
private struct Findings {
  let path: String
  let provider: String
  /// The values in the node's options.
  let values: ModelValues
  let sha256: String
  let sidecar: ModelSidecar?
  private(set) var rows: [ModelInspection.Row] = []
  private(set) var problems: [ModelInspection.Problem] = []

  init(
    path: String, provider: String, values: ModelValues, sha256: String, sidecar: ModelSidecar?
  ) {
    (self.path, self.provider, self.values) = (path, provider, values)
    (self.sha256, self.sidecar) = (sha256, sidecar)
  }

  mutating func add(_ error: any Error) { problems.append(ModelInspection.Problem(error)) }

  /// As a stage does before its first frame.
  mutating func load(_ bytes: [UInt8], _ outline: OnnxOutline, _ library: OnnxLibrary) throws {
    let model: OnnxModel
    do {
      model = try OnnxModel(
        bytes: bytes, path: path,
        options: OnnxOptions(
          provider: ModelProvider(provider).libraryName, inputShapes: otherShapes(of: outline)),
        library: library)
    } catch {
      add(error)
      return try draft(of: outline, ports: nil)
    }
    try draft(of: model, ports: model.outputs)
  }

  /// - Parameter ports: The outputs; `nil` if their shapes are not known, because the library works
  ///   them out.
  mutating func draft(of model: any ModelDescription, ports: [ModelPort]?) throws {
    do {
      try sidecar?.check(sha256: sha256, ofModel: path)
    } catch {
      add(error)
    }
    guard !FeatureModel.fits(model) else { return try draftNumbers(of: model, ports) }
    let draft = try ModelSettings.draft(
      of: shaped(model), at: path, options: values, sidecar: sidecar)
    rows = draft.rows.map(ModelInspection.Row.init)
    draft.problems.forEach { add($0) }
    do {
      if let ports { _ = try draft.settings?.decoder(for: ports) }
    } catch {
      add(error)
    }
  }

  private mutating func draftNumbers(of model: any ModelDescription, _ ports: [ModelPort]?) throws {
    let draft = try FeatureModel.draft(of: model, at: path, options: values, sidecar: sidecar)
    rows = draft.rows.map(ModelInspection.Row.init)
    if let problem = draft.problem { add(problem) }
    do {
      if let ports { try draft.model?.check(ports) }
    } catch {
      add(error)
    }
  }

  /// The shapes in which the model is computed; a loaded model has them.
  private func shaped(_ model: any ModelDescription) -> any ModelDescription {
    guard var outline = model as? OnnxOutline else { return model }
    let shapes = otherShapes(of: outline)
    for index in outline.inputs.indices {
      outline.inputs[index].shape =
        shapes[outline.inputs[index].name] ?? outline.inputs[index].shape
    }
    return outline
  }

  private func otherShapes(of outline: OnnxOutline) -> [String: [Int?]] {
    ModelSettings.otherShapes(of: outline, options: values, sidecar: sidecar)
  }
}
