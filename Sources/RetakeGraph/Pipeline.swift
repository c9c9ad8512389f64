import RetakeBuffers
import RetakeCore

/// A graph of stages: what happens to each frame, not how or when.
///
/// Made by the typed words of the DSL or from a JSON document; both give the same value.
public struct Pipeline: Sendable {
  public var name: String
  public var nodes: [PipelineNode]
  public var edges: [PipelineEdge]
  public var executors: [PipelineExecutor]
  public var pools: [PipelinePool]

  public init(
    name: String, nodes: [PipelineNode], edges: [PipelineEdge],
    executors: [PipelineExecutor] = [], pools: [PipelinePool] = []
  ) {
    self.name = name
    self.nodes = nodes
    self.edges = edges
    self.executors = executors
    self.pools = pools
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
  /// Frames that the node may work on at once; their outputs leave in order.
  public var lanes = 1
  /// Whether the node owns its executor, and a thread of its own.
  public var isPinned = false
  /// What takes the place of a frame that fails here; `nil` = the failure goes on.
  public var fallback: Fallback?
  /// A stage's from the start of its service, a join's from its first value.
  public var timeout: Duration?
  /// The pool that this source's or stage's frames lie in.
  public var pool: String?
  /// How long a sink keeps what it was given; `nil` = not at all.
  public var hold: Duration?
  /// What a forEach does with each item.
  public var body: PipelineBody?
  /// The forEach that a node of a body belongs to, once the graph is flat.
  package var scope: String?
  /// The node's place in the document, once the graph is flat.
  package var pointer: String?
  /// Whether the node is a conversion that no document has.
  package var isInserted = false

  public init(id: String, stage: AnyStage, cost: Cost? = nil, executor: String? = nil) {
    self.id = id
    self.stage = stage
    self.cost = cost
    self.executor = executor
  }

  public var kind: String { stage.signature.kind }
}

/// What takes the place of a frame that fails at a node.
public enum Fallback: String, Hashable, Sendable, CaseIterable {
  /// The last value that left the node on this track.
  case previous
}

/// The stages of a forEach, in one line from the item to what is gathered.
public struct PipelineBody: Sendable {
  public var nodes: [PipelineNode]
  public var edges: [PipelineEdge]
  /// The node whose output is gathered.
  public var output: String

  public init(nodes: [PipelineNode], edges: [PipelineEdge], output: String) {
    self.nodes = nodes
    self.edges = edges
    self.output = output
  }
}

/// Buffers that frames lie in; there are never more than the capacity, or than an adaptive pool may
/// have.
public struct PipelinePool: Hashable, Sendable {
  /// What happens to a frame for which there is no buffer.
  public enum Policy: String, Hashable, Sendable, CaseIterable {
    /// A stage waits; a source loses the frame before capture.
    case block
    case drop
    case fail
  }

  public var id: String
  /// Buffers; those that an adaptive pool begins with.
  public var capacity: Int
  public var policy: Policy
  /// How the pool follows the load; `nil` = its size is fixed.
  public var adaptive: PoolSizing?

  public init(
    id: String, capacity: Int = 8, policy: Policy = .block, adaptive: PoolSizing? = nil
  ) {
    self.id = id
    self.capacity = capacity
    self.policy = policy
    self.adaptive = adaptive
  }

  /// The fewest buffers that it can come to have.
  package var fewest: Int { adaptive?.smallest ?? capacity }

  /// The same pool with so many buffers, whatever the load.
  package func fixed(at capacity: Int) -> PipelinePool {
    PipelinePool(id: id, capacity: capacity, policy: policy)
  }
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
  /// The edge's place in the document, once the graph is flat.
  package var pointer: String?

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
