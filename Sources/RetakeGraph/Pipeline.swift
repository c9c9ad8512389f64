import RetakeCore

/// A graph of stages: what happens to each frame, not how or when.
///
/// Made by the typed words of the DSL or from a JSON document; both give the same value.
public struct Pipeline: Sendable {
  public var name: String
  public var nodes: [PipelineNode]
  public var edges: [PipelineEdge]
  public var executors: [PipelineExecutor]

  public init(
    name: String, nodes: [PipelineNode], edges: [PipelineEdge], executors: [PipelineExecutor] = []
  ) {
    self.name = name
    self.nodes = nodes
    self.edges = edges
    self.executors = executors
  }

  public func node(_ id: String) -> PipelineNode? { nodes.first { $0.id == id } }
}

/// A stage in a graph.
public struct PipelineNode: Sendable {
  /// `[a-z][A-Za-z0-9-]*`, unique in the pipeline; inserted conversions have `id/convert`.
  public var id: String
  public var stage: AnyStage
  /// `nil` counts as zero and is listed.
  public var cost: Cost?
  /// A shared executor's id; `nil` = one of its own.
  public var executor: String?
  /// Whether this sink's ledger is the headline.
  public var isPrimary = false
  /// Steps in which a results sink writes numbers, by field: `box`, `score`, `scalar`.
  public var quantum: [String: Double] = [:]
  /// The body of a forEach: kept and written back as it stands.
  public var body: JSONValue?

  public init(id: String, stage: AnyStage, cost: Cost? = nil, executor: String? = nil) {
    self.id = id
    self.stage = stage
    self.cost = cost
    self.executor = executor
  }

  public var kind: String { stage.signature.kind }
}

/// A bounded queue between two nodes.
public struct PipelineEdge: Hashable, Sendable {
  public static let defaultCapacity = 3

  public var from: String
  public var to: String
  public var fromPort: String?
  public var toPort: String?
  /// Frames that may wait here, those in service not counted.
  public var capacity: Int
  public var policy: EdgePolicy

  public init(
    from: String, to: String, fromPort: String? = nil, toPort: String? = nil,
    capacity: Int = PipelineEdge.defaultCapacity, policy: EdgePolicy = .block
  ) {
    self.from = from
    self.to = to
    self.fromPort = fromPort
    self.toPort = toPort
    self.capacity = capacity
    self.policy = policy
  }
}

/// A modelled server, or several, that ready stages share.
public struct PipelineExecutor: Hashable, Sendable {
  public var id: String
  public var count: Int

  public init(id: String, count: Int = 1) {
    self.id = id
    self.count = count
  }
}
