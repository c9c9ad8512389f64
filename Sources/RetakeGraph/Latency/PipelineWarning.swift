import RetakeCore

/// What is allowed in a pipeline, and will disappoint: it is too slow, or frames are lost.
public struct PipelineWarning: CodedError, Hashable {
  public enum Kind: String, Hashable, Sendable, CaseIterable {
    /// A frame takes longer to a sink than it may.
    case budget
    /// Servers have more to do than they can, and sources lose frames.
    case overload
    /// A stage's work takes longer than its timeout as a rule, or a join ends before a part comes.
    case timeout
    /// Frames that end in one branch leave their partners at a join alone.
    case partner
    /// A pool can be empty for ever when a frame has many detections.
    case pool
  }

  public var kind: Kind
  public var message: String
  /// A JSON pointer into the document.
  public var pointer: String
  public var advice: String?
  /// Changes of which each, alone, makes the warning go away.
  public var fixes: [[PipelineFix]]
  public var file: String?

  public var code: String { "graph.check.\(kind.rawValue)" }
  public var place: Place? { Place(file: file, pointer: pointer) }

  public init(
    _ kind: Kind, _ message: String, at pointer: String, advice: String? = nil,
    fixes: [[PipelineFix]] = []
  ) {
    self.kind = kind
    self.message = message
    self.pointer = pointer
    self.advice = advice
    self.fixes = fixes
  }
}
