public import RetakeBuffers

/// The properties of a kind of node by which a graph checks it.
public struct StageSignature: Hashable, Sendable {
  /// The name in documents, unique in a catalog; see `StageDefinition.kind`.
  public var kind: String
  /// Higher whenever the same input may produce another output; see `StageDefinition.version`.
  public var version: Int
  /// The role of the node: it determines how many inputs and outputs the node has.
  public var role: StageRole
  /// `nil` for sources, and for nodes that accept any value.
  public var input: ValueKind?
  /// `nil` for sinks, and for nodes that pass their input on.
  public var output: ValueKind?
  /// Pixel formats that the body accepts, best first; empty means the formats of
  /// `PixelFormat.basic`.
  public var inputFormats: [PixelFormat]
  /// Whether the body can throw. If so, a replay waits for its outcome.
  package var canFail: Bool
  /// Whether the output continues to use the memory of the input.
  package var keepsInput = false
  /// One line for lists of stages; may be empty.
  public var summary: String

  /// A signature whose `keepsInput` is `false`. The values are not checked. A catalog returns
  /// signatures for its kinds.
  package init(
    kind: String, version: Int, role: StageRole, input: ValueKind?, output: ValueKind?,
    inputFormats: [PixelFormat] = [], canFail: Bool = false, summary: String = ""
  ) {
    self.kind = kind
    self.version = version
    self.role = role
    self.input = input
    self.output = output
    self.inputFormats = inputFormats
    self.canFail = canFail
    self.summary = summary
  }
}

extension StageSignature {
  /// The formats that the body gets; nil for nodes that pass frames on, and for sinks.
  package var acceptedFormats: [PixelFormat]? {
    guard inputFormats.isEmpty else { return inputFormats }
    let reads = input != nil && (role == .pure || role == .stateful || role == .route)
    return reads ? PixelFormat.basic : nil
  }

  package func accepts(_ format: PixelFormat) -> Bool {
    acceptedFormats?.contains(format) ?? true
  }

  /// The format that frames of another format are converted to before the body; nil if the body
  /// accepts only deep samples.
  package func conversion(of format: PixelFormat) -> PixelFormat? {
    inputFormats.isEmpty ? format.nearestBasic : inputFormats.first { !$0.isDeep }
  }
}
