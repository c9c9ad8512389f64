public import RetakeCore

/// A problem with a pipeline or its document, with its place: the JSON pointer, and for a pipeline
/// made in Swift the names of the nodes.
public struct PipelineError: RetakeError, Hashable {
  /// The problem. `PipelineError.message` describes it in a sentence, and `PipelineError.advice` is
  /// the next step.
  ///
  /// The message and the advice contain the strings of a case. IDs, keys and kinds are as the
  /// author wrote them; long strings are shortened.
  public enum Reason: Hashable, Sendable {
    /// The data is not JSON. The string is the parser's description of the problem.
    case malformed(String)
    /// The document's `v` is above 1, the only version that this Retake reads.
    case newerVersion(Int)
    /// A document's object, or a sink's `precision`, has a key that does not exist there. The
    /// strings are the key and the advice, a suggestion.
    case unknownKey(String, advice: String)
    /// A document's object lacks this required key, or a forEach has no `body`.
    case missingKey(String)
    /// A value has another type than it should have, is out of range, or is not allowed at this
    /// node: a capacity of 0, an ID with a space, a port that does not exist, `concurrency` on a
    /// sink. The strings are the message and the advice; `nil` stands for a general one.
    case wrongValue(String, advice: String?)
    /// The catalog has no stage of this kind. The strings are the kind and the advice, a
    /// suggestion.
    case unknownKind(String, advice: String)
    /// A stage refuses an option: its name, its type or its value. Also for the ports of joins and
    /// routes, which are options. The strings are the message and the advice; `nil` stands for a
    /// general one.
    case badOption(String, advice: String?)
    /// Two nodes, two executors or two pools have this ID.
    case duplicateID(String)
    /// An edge, or the `output` of a forEach's body, names a node that does not exist. The strings
    /// are the ID and the advice, a suggestion.
    case unknownNode(String, advice: String)
    /// A node names an executor that the pipeline does not declare. The strings are the executor's
    /// ID and the advice.
    case unknownExecutor(String, advice: String)
    /// The edges form a cycle. These are the IDs along it; the first one is repeated at the end.
    case cycle([String])
    /// An edge connects an output with an input of another kind. `from` and `to` are the IDs of the
    /// two nodes, `gives` and `takes` are the kinds, such as `frame` and `detections`.
    case typeMismatch(from: String, gives: String, to: String, takes: String)
    /// A part is missing: a node, a source, a sink, an edge from a node, or an edge to a port of a
    /// join. The strings are the message and the advice.
    case missing(String, advice: String)
    /// No edge leads to the node with this ID, so no frame can reach it.
    case unreachable(String)
    /// A bound is exceeded, such as 2 MiB for a document, 4,096 nodes, 8,192 edges, or the values
    /// that a join may output. The string is the message.
    case tooLarge(String)
    /// A combination that cannot run, such as two edges to a node that is not a join, a forEach in
    /// a forEach, or a join of frames of two sources. The strings are the message and the advice.
    case unsupported(String, advice: String)
    /// A node is a closure or has its frames in memory, so the pipeline has no document. It runs
    /// all the same. The values are the ID and the role of the node.
    case notExportable(String, StageRole)
  }

  /// The problem, for a caller that distinguishes the cases.
  public var reason: Reason
  /// The place as a JSON pointer (RFC 6901) into the pipeline's document, such as
  /// `/nodes/2/options/threshold`; empty for the document itself. A pipeline that was made in Swift
  /// has the pointers of the document that it would have.
  public var pointer: String
  /// The place in words, if the pipeline was made in Swift: for example `pipeline 'yard', stage
  /// 'motion', its edge to 'boxes'`. It then replaces the pointer in `place`.
  package var part: String?
  /// The file of the document, as it was passed to `PipelineDocument.parse`; `nil` if no file was
  /// passed.
  package var file: String?
  /// The code of the error that a stage threw when it was made. It replaces the code of
  /// `badOption`.
  private var stageCode: String?

  package init(_ reason: Reason, at pointer: String, file: String? = nil) {
    self.reason = reason
    self.pointer = pointer
    self.file = file
  }

  /// An option that a stage refuses. An error of the stage keeps its code, such as
  /// `process.forbidden`.
  package init(_ problem: OptionProblem, at pointer: String) {
    self.init(.badOption(problem.message, advice: problem.advice), at: pointer)
    stageCode = problem.code
  }

  package var facts: ErrorFacts {
    var facts = reason.facts
    if let stageCode { facts.code = stageCode }
    facts.place = Place(file: file, part: part, pointer: part == nil ? pointer : nil)
    return facts
  }

  /// `graph.pipeline.` and the name of the case. For an option that a stage refuses, the code of
  /// the stage's error, if it has one.
  public var code: String { facts.code }
  /// One sentence that names the node, the key or the value.
  public var message: String { facts.message }
  /// The file, with the JSON pointer; for a pipeline made in Swift, the place in words instead.
  public var place: Place? { facts.place }
  /// The next step, such as the nearest known kind; `nil` if there is no suggestion.
  public var advice: String? { facts.advice }
}

extension PipelineError.Reason {
  fileprivate var facts: ErrorFacts {
    switch self {
    case .malformed(let detail):
      ErrorFacts(
        "graph.pipeline.malformed", "this is not a pipeline document: \(detail)",
        advice: Self.example)
    case .newerVersion(let v):
      ErrorFacts(
        "graph.pipeline.newerVersion", "the document has version \(v); this Retake reads version 1",
        advice: "Update Retake, or write \"v\": 1")
    case .unknownKey(let key, let advice):
      ErrorFacts("graph.pipeline.unknownKey", "unknown key '\(key)'", advice: advice)
    case .missingKey(let key):
      ErrorFacts("graph.pipeline.missingKey", "'\(key)' is missing", advice: "Add \"\(key)\"")
    case .wrongValue(let detail, let advice):
      ErrorFacts("graph.pipeline.wrongValue", detail, advice: advice ?? Self.example)
    case .unknownKind(let kind, let advice):
      ErrorFacts("graph.pipeline.unknownKind", "there is no stage '\(kind)'", advice: advice)
    case .badOption(let detail, let advice):
      ErrorFacts(
        "graph.pipeline.badOption", detail,
        advice: advice ?? "See the options with: retake pipeline stages")
    case .duplicateID(let id):
      ErrorFacts(
        "graph.pipeline.duplicateID", "the id '\(id)' is used twice",
        advice: "Choose a different id for each node")
    case .unknownNode(let id, let advice):
      ErrorFacts("graph.pipeline.unknownNode", "there is no node '\(id)'", advice: advice)
    case .unknownExecutor(let id, let advice):
      ErrorFacts("graph.pipeline.unknownExecutor", "there is no executor '\(id)'", advice: advice)
    case .cycle(let ids):
      ErrorFacts(
        "graph.pipeline.cycle", "the graph runs in a circle: \(Self.path(ids))",
        advice: "Remove one of these edges")
    case .typeMismatch(let from, let gives, let to, let takes):
      ErrorFacts(
        "graph.pipeline.typeMismatch", "'\(from)' returns \(gives), but '\(to)' takes \(takes)",
        advice: takes.hasPrefix("joined")
          ? "Put a node of kind 'join' or 'latest' before '\(to)'"
          : "Put a stage between them that takes \(gives) and returns \(takes)")
    case .missing(let what, let advice):
      ErrorFacts("graph.pipeline.missing", what, advice: advice)
    case .unreachable(let id):
      ErrorFacts(
        "graph.pipeline.unreachable", "no frame can reach the node '\(id)'",
        advice: "Connect '\(id)' to a source, or remove it")
    case .tooLarge(let detail):
      ErrorFacts(
        "graph.pipeline.tooLarge", detail,
        advice: "Make it smaller, or several pipelines of it")
    case .unsupported(let what, let advice):
      ErrorFacts("graph.pipeline.unsupported", what, advice: advice)
    case .notExportable(let id, .sink):
      ErrorFacts(
        "graph.pipeline.notExportable", "the sink '\(id)' is a closure and has no document form",
        advice: "End the pipeline with results(), metadata() or discard(); "
          + "a closure sink runs in Swift only")
    case .notExportable(let id, .source):
      ErrorFacts(
        "graph.pipeline.notExportable",
        "the source '\(id)' has its frames in memory and no document form",
        advice: "Begin the pipeline with session(), images() or synthetic()")
    case .notExportable(let id, let role):
      ErrorFacts(
        "graph.pipeline.notExportable", "the stage '\(id)' is a closure and has no document form",
        advice: role == .route
          ? "Write it with the rules of the built-in route"
          : "Make it a PureStage type, or a StatefulStage if it remembers frames, "
            + "and register that")
    }
  }

  private static let example = "Print a complete document: retake pipeline example motion-boxes"

  /// The IDs along a path; for a long path, its two ends.
  private static func path(_ ids: [String]) -> String {
    // A cycle may go through 4,096 nodes.
    let endMax = 12
    guard ids.count > 2 * endMax else { return ids.joined(separator: " → ") }
    let middle = "… (\(ids.count - 2 * endMax) more) …"
    return (ids.prefix(endMax) + [middle] + ids.suffix(endMax)).joined(separator: " → ")
  }

  /// An error for an ID that is not allowed in documents. `what` is the kind of the element, such
  /// as `node`.
  static func invalidID(_ id: String, of what: String) -> Self {
    .wrongValue(
      "'\(id.shortened)' is not a \(what) id",
      advice: "Use a lower-case letter, then letters, digits or -, at most 64 in all")
  }
}
