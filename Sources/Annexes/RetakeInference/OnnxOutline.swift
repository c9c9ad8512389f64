/// The declarations in a model's file, read without the library that computes the model.
///
/// The field numbers come from onnx.proto3 in the repository of ONNX.
package struct OnnxOutline: ModelDescription, Hashable {
  /// A set of operators, and its version.
  package struct Opset: Hashable, Sendable {
    /// `ai.onnx` for the set that every model has.
    package var domain: String
    package var version: Int
  }

  /// The most sets of operators.
  static let opsetsMax = 64

  /// The version of the file's format.
  package private(set) var formatVersion = 0
  /// The program that wrote the file, with its version; empty if it does not say.
  package private(set) var producer = ""
  package private(set) var opsets: [Opset] = []
  /// The inputs that a caller passes: an input that has a value in the file is left out.
  package var inputs: [ModelPort] = []
  package private(set) var outputs: [ModelPort] = []
  package private(set) var metadata: [String: String] = [:]

  /// The name of the first dimension of an input or output, by the name of the port.
  private var batchNames: [String: String] = [:]
  private var metadataBytes = 0
  private var hasGraph = false

  /// - Parameter model: The path, for errors.
  /// - Throws: `InferenceError.malformed`, `.external`.
  package init(_ bytes: [UInt8], model: String) throws {
    do {
      try OnnxFile(bytes).check()
    } catch let error as OnnxFile.Problem {
      switch error {
      case .external(let file): throw InferenceError.external(model: model, file: file)
      case .malformed(let cause): throw InferenceError.malformed(model: model, cause: cause)
      }
    }
    do {
      try read(ProtobufReader(bytes))
    } catch let error as ProtobufReader.Malformed {
      throw InferenceError.malformed(model: model, cause: error.cause)
    }
  }

  private mutating func read(_ reader: ProtobufReader) throws {
    var version = ""
    try reader.forEachField(in: reader.bytes.indices) {
      field in
      switch field.number {
      case 1: formatVersion = Int(clamping: field.value)
      case 2: producer = reader.text(field)
      case 3: version = reader.text(field)
      case 7: try readGraph(reader, field)
      case 8: try addOpset(reader, field)
      case 14: try addMetadata(reader, field)
      default: break
      }
    }
    guard hasGraph else { throw ProtobufReader.Malformed(cause: "it is not a model") }
    producer = [producer, version].filter { !$0.isEmpty }.joined(separator: " ")
  }

  private mutating func readGraph(
    _ reader: ProtobufReader, _ graph: ProtobufReader.Field
  ) throws {
    hasGraph = true
    var given: Set<String> = []
    try reader.forEachField(in: graph.range) {
      field in
      switch field.number {
      case 5: given.insert(try reader.entry(field, 8, 0).first)
      // A sparse value, whose numbers have its name.
      case 15:
        try reader.forEachField(in: field.range) {
          values in
          if values.number == 1 { given.insert(try reader.entry(values, 8, 0).first) }
        }
      case 11: try add(reader, field, to: \.inputs)
      case 12: try add(reader, field, to: \.outputs)
      default: break
      }
    }
    inputs.removeAll { given.contains($0.name) }
  }

  /// Whether the caller chooses the number of images: the first dimension of the input and of all
  /// outputs has one name.
  package var isBatched: Bool {
    let names = (inputs + outputs).map { batchNames[$0.name] ?? "" }
    return inputs.count == 1 && !outputs.isEmpty && names[0] != ""
      && names.allSatisfy { $0 == names[0] }
  }

  private mutating func add(
    _ reader: ProtobufReader, _ field: ProtobufReader.Field,
    to ports: WritableKeyPath<OnnxOutline, [ModelPort]>
  ) throws {
    // Files of format 3 list each value of the graph among the inputs, too.
    guard self[keyPath: ports].count < Self.declaredPortsMax else {
      throw ProtobufReader.Malformed(
        cause: "it has more than \(Self.declaredPortsMax) inputs or outputs")
    }
    let (port, batchName) = try reader.port(field)
    self[keyPath: ports].append(port)
    batchNames[port.name] = batchName
  }

  /// The most inputs, and the most outputs, that a file may list.
  static let declaredPortsMax = 1 << 16

  private mutating func addOpset(
    _ reader: ProtobufReader, _ field: ProtobufReader.Field
  ) throws {
    guard opsets.count < Self.opsetsMax else {
      throw ProtobufReader.Malformed(
        cause: "it needs more than \(Self.opsetsMax) sets of operators")
    }
    let (domain, _, version) = try reader.entry(field, 1, 0, number: 2)
    opsets.append(Opset(domain: domain.isEmpty ? "ai.onnx" : domain, version: version))
  }

  private mutating func addMetadata(
    _ reader: ProtobufReader, _ field: ProtobufReader.Field
  ) throws {
    metadataBytes += field.range.count
    guard metadata.count < OnnxModel.metadataCountMax,
      metadataBytes <= OnnxModel.metadataBytesMax
    else {
      throw ProtobufReader.Malformed(
        cause: "its metadata has more than \(OnnxModel.metadataCountMax) entries or "
          + "\(OnnxModel.metadataBytesMax) bytes")
    }
    let (key, value, _) = try reader.entry(field, 1, 2)
    metadata[key] = value
  }
}

extension ProtobufReader {
  /// Two strings and a number of a message, by the numbers of their fields.
  fileprivate func entry(
    _ message: Field, _ first: UInt64, _ second: UInt64, number: UInt64 = 0
  ) throws -> (first: String, second: String, number: Int) {
    var entry = (first: "", second: "", number: 0)
    try forEachField(in: message.range) { field in
      switch field.number {
      case first: entry.first = text(field)
      case second: entry.second = text(field)
      case number: entry.number = Int(truncatingIfNeeded: Int64(bitPattern: field.value))
      default: break
      }
    }
    return entry
  }

  /// An input or output, and the name of its first dimension.
  fileprivate func port(_ message: Field) throws -> (ModelPort, batchName: String?) {
    var batchName: String?
    var port = ModelPort(name: "", type: nil, shape: [], typeName: OnnxType.kindName(0))
    try forEachField(in: message.range) { field in
      if field.number == 1 {
        port.name = text(field)
      } else if field.number == 2 {
        try forEachField(in: field.range) { kind in
          if kind.number == 1 {
            try readTensor(kind, into: &port, &batchName)
          } else if let number = Self.kinds[kind.number] {
            port.typeName = OnnxType.kindName(number)
          }
        }
      }
    }
    return (port, batchName)
  }

  /// The fields of a type, and the library's numbers of the same kinds.
  private static let kinds: [UInt64: Int32] = [4: 2, 5: 3, 7: 4, 8: 5, 9: 6]

  private func readTensor(
    _ tensor: Field, into port: inout ModelPort, _ batchName: inout String?
  ) throws {
    try forEachField(in: tensor.range) { field in
      if field.number == 1 {
        let element = Int32(clamping: field.value)
        port.type = ModelTensor.ElementType(onnx: element)
        port.typeName = OnnxType.elementName(element)
      } else if field.number == 2 {
        try forEachField(in: field.range) { dimension in
          guard dimension.number == 1 else { return }
          guard port.shape.count < OnnxModel.rankMax else {
            throw Malformed(
              cause: "a tensor has more than \(OnnxModel.rankMax) dimensions")
          }
          let (length, name) = try length(dimension)
          if port.shape.isEmpty { batchName = name }
          port.shape.append(length)
        }
      }
    }
  }

  /// A dimension may have a length, a name, or neither.
  private func length(_ dimension: Field) throws -> (Int?, name: String?) {
    var (length, name): (Int?, String?) = (nil, nil)
    try forEachField(in: dimension.range) { field in
      if field.number == 2 { name = text(field) }
      guard field.number == 1 else { return }
      let value = Int64(bitPattern: field.value)
      length = value < 0 ? nil : Int(value)
    }
    return (length, name)
  }
}
