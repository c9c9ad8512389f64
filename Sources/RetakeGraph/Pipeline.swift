import RetakeBuffers
import RetakeCore

/// A graph of stages. It defines what happens to each frame, not how or when.
///
/// A pipeline is built with the typed methods of the DSL or read from a JSON document. Both give
/// the same value.
public struct Pipeline: Sendable {
  public var name: String
  public var nodes: [PipelineNode]
  public var edges: [PipelineEdge]
  public var executors: [PipelineExecutor]
  public var pools: [PipelinePool]
  /// How the places of mistakes are written.
  package var origin = Origin.swift

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
  /// `nil` counts as zero and is listed in the notes.
  public var cost: Cost?
  /// The ID of a shared executor; `nil` = an executor of its own.
  public var executor: String?
  /// Whether this sink's ledger is the headline.
  public var isPrimary = false
  /// Steps in which a results sink writes numbers, by field: `box`, `score`, `scalar`.
  public var quantum: [String: Double] = [:]
  /// Frames that the node may handle at once. Their outputs leave in order.
  public var lanes = 1
  /// Whether the node owns its executor, and a thread of its own.
  public var isPinned = false
  /// What replaces a frame that fails here; `nil` = the failure is passed on.
  public var fallback: Fallback?
  /// For a stage, counted from the start of its service; for a join, from its first value.
  public var timeout: Duration?
  /// The pool whose buffers this source's or stage's frames use.
  public var pool: String?
  /// How long a sink keeps its input; `nil` = not at all.
  public var hold: Duration?
  /// The stages that a forEach applies to each item.
  public var body: PipelineBody?
  /// In a flat graph: the forEach to whose body the node belongs.
  package var scope: String?
  /// In a flat graph: the pointer to the node in the document.
  package var pointer: String?
  /// Whether the node is an inserted conversion, which is not in the document.
  package var isInserted = false

  public init(id: String, stage: AnyStage, cost: Cost? = nil, executor: String? = nil) {
    self.id = id
    self.stage = stage
    self.cost = cost
    self.executor = executor
  }

  public var kind: String { stage.signature.kind }
}

/// What replaces a frame that fails at a node.
public enum Fallback: String, Hashable, Sendable, CaseIterable {
  /// The last value that left the node on this track.
  case previous
}

/// The stages of a forEach, in one chain from the item to the output that is gathered.
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

/// Buffers for frames. There are never more than the capacity, or than the maximum of an adaptive
/// pool.
public struct PipelinePool: Hashable, Sendable {
  /// What happens to a frame if all buffers are in use.
  public enum Policy: String, Hashable, Sendable, CaseIterable {
    /// A stage waits; a source loses the frame before capture.
    case block
    case drop
    case fail
  }

  public var id: String
  /// The number of buffers; for an adaptive pool, the initial number.
  public var capacity: Int
  public var policy: Policy
  /// How the pool adapts to the load; `nil` = its size is fixed.
  public var adaptive: PoolSizing?

  public init(
    id: String, capacity: Int = 8, policy: Policy = .block, adaptive: PoolSizing? = nil
  ) {
    self.id = id
    self.capacity = capacity
    self.policy = policy
    self.adaptive = adaptive
  }

  /// The smallest number of buffers that the pool can have.
  package var fewest: Int { adaptive?.smallest ?? capacity }

  /// The same pool with a fixed number of buffers.
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
  /// Frames that may wait here, not counting those in service.
  public var capacity: Int
  public var policy: EdgePolicy
  /// In a flat graph: the pointer to the edge in the document.
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

/// One or more modelled servers that ready stages share.
public struct PipelineExecutor: Hashable, Sendable {
  public var id: String
  public var count: Int

  public init(id: String, count: Int = 1) {
    self.id = id
    self.count = count
  }
}
