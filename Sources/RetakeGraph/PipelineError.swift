import RetakeCore

/// A problem with a pipeline or its document, with its place: the JSON pointer, and for a pipeline
/// made in Swift the names of the nodes.
public struct PipelineError: CodedError, Hashable {
  public enum Reason: Hashable, Sendable {
    /// Not JSON at all, or not an object.
    case malformed(String)
    case newerVersion(Int)
    case unknownKey(String, advice: String)
    case missingKey(String)
    case wrongValue(String, advice: String?)
    case unknownKind(String, advice: String)
    case badOption(String, advice: String?)
    case duplicateID(String)
    case unknownNode(String, advice: String)
    case unknownExecutor(String, advice: String)
    /// The IDs along the cycle. The first one is repeated at the end.
    case cycle([String])
    case typeMismatch(from: String, gives: String, to: String, takes: String)
    case missing(String, advice: String)
    case unreachable(String)
    case tooLarge(String)
    case unsupported(String, advice: String)
    /// The ID and the role of a node that is a closure.
    case notExportable(String, StageRole)
  }

  public var reason: Reason
  public var pointer: String
  /// The place in words, if the pipeline was made in Swift: for example `pipeline 'yard', stage
  /// 'motion', its edge to 'boxes'`. It then replaces the pointer in `place`.
  public var part: String?
  public var file: String?

  package init(_ reason: Reason, at pointer: String, file: String? = nil) {
    self.reason = reason
    self.pointer = pointer
    self.file = file
  }

  public var place: Place? {
    Place(file: file, part: part, pointer: part == nil ? pointer : nil)
  }

  public var code: String {
    let word =
      switch reason {
      case .malformed: "malformed"
      case .newerVersion: "newerVersion"
      case .unknownKey: "unknownKey"
      case .missingKey: "missingKey"
      case .wrongValue: "wrongValue"
      case .unknownKind: "unknownKind"
      case .badOption: "badOption"
      case .duplicateID: "duplicateID"
      case .unknownNode: "unknownNode"
      case .unknownExecutor: "unknownExecutor"
      case .cycle: "cycle"
      case .typeMismatch: "typeMismatch"
      case .missing: "missing"
      case .unreachable: "unreachable"
      case .tooLarge: "tooLarge"
      case .unsupported: "unsupported"
      case .notExportable: "notExportable"
      }
    return "graph.pipeline.\(word)"
  }

  public var message: String {
    switch reason {
    case .malformed(let detail): "this is not a pipeline document: \(detail)"
    case .newerVersion(let v): "the document has version \(v); this Retake reads version 1"
    case .unknownKey(let key, _): "unknown key '\(key)'"
    case .missingKey(let key): "'\(key)' is missing"
    case .wrongValue(let detail, _): detail
    case .unknownKind(let kind, _): "there is no stage '\(kind)'"
    case .badOption(let detail, _): detail
    case .duplicateID(let id): "the id '\(id)' is used twice"
    case .unknownNode(let id, _): "there is no node '\(id)'"
    case .unknownExecutor(let id, _): "there is no executor '\(id)'"
    case .cycle(let ids): "the graph runs in a circle: \(Self.path(ids))"
    case .typeMismatch(let from, let gives, let to, let takes):
      "'\(from)' gives \(gives), but '\(to)' takes \(takes)"
    case .missing(let what, _): what
    case .unreachable(let id): "no frame can reach the node '\(id)'"
    case .tooLarge(let detail): detail
    case .unsupported(let what, _): what
    case .notExportable(let id, .sink): "the sink '\(id)' is a closure and has no document form"
    case .notExportable(let id, .source):
      "the source '\(id)' has its frames in memory and no document form"
    case .notExportable(let id, _): "the stage '\(id)' is a closure and has no document form"
    }
  }

  /// The IDs along a path; for a long path, its two ends.
  private static func path(_ ids: [String]) -> String {
    // A cycle may go through 4,096 nodes.
    let endMax = 12
    guard ids.count > 2 * endMax else { return ids.joined(separator: " → ") }
    let middle = "… (\(ids.count - 2 * endMax) more) …"
    return (ids.prefix(endMax) + [middle] + ids.suffix(endMax)).joined(separator: " → ")
  }

  public var advice: String? {
    switch reason {
    case .malformed: Self.example
    case .newerVersion: "Update Retake, or write \"v\": 1"
    case .unknownKey(_, let advice), .unknownKind(_, let advice), .unknownNode(_, let advice),
      .unknownExecutor(_, let advice), .missing(_, let advice), .unsupported(_, let advice):
      advice
    case .wrongValue(_, let advice): advice ?? Self.example
    case .badOption(_, let advice): advice ?? "See the options with: retake pipeline stages"
    case .missingKey(let key): "Add \"\(key)\""
    case .duplicateID: "Give each node an id of its own"
    case .cycle: "Remove one of these edges"
    case .typeMismatch: "Put a stage between them that turns one into the other"
    case .unreachable(let id): "Connect '\(id)' to a source, or remove it"
    case .tooLarge: "Make it smaller, or several pipelines of it"
    case .notExportable(_, .sink):
      "End the pipeline with results(), metadata() or discard(); a closure sink runs in Swift only"
    case .notExportable(_, .source): "Begin the pipeline with session(), images() or synthetic()"
    case .notExportable(_, .route): "Write it with the rules of the built-in route"
    case .notExportable:
      "Make it a PureStage type, or a StatefulStage if it remembers frames, and register that"
    }
  }
}

extension PipelineError {
  private static let example = "See a whole one with: retake pipeline example motion-boxes"
}

extension PipelineError.Reason {
  /// An ID that is not allowed in documents; `what` has the ID, such as a node.
  static func invalidID(_ id: String, of what: String) -> Self {
    .wrongValue(
      "'\(id.shortened)' is not a \(what) id",
      advice: "Use a lower-case letter, then letters, digits or -, at most 64 in all")
  }
}
