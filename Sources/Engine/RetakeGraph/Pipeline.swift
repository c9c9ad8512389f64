package import RetakeBuffers
import RetakeCore

/// A graph of stages. It defines what happens to each frame, not how or when.
///
/// A pipeline is built with the typed methods of the DSL or read from a JSON document with
/// `PipelineDocument.parse`. Both give the same value. The methods follow each other from the
/// source to the sink, and each of them is about the node before it:
///
/// ```swift
/// let pipeline = Pipeline.named("yard")
///   .source(.session())  // a track of the session that is replayed or recorded
///   .gray().cost(.fixed(.milliseconds(2)))  // a stage, and its cost in virtual time
///   .motion().queue(capacity: 2, policy: .dropOldest)  // the next one, and the queue before it
///   .results("boxes", precision: ["box": 0.1])  // the sink, with the step of its numbers
/// ```
///
/// It is validated when it is connected to frames, for example by `LiveSession`.
public struct Pipeline: Sendable {
  /// For reports, goldens and errors. It is not part of `digest`.
  public var name: String
  package var nodes: [PipelineNode]
  package var edges: [PipelineEdge]
  package var executors: [PipelineExecutor]
  package var pools: [PipelinePool]
  /// How the places of mistakes are written.
  package var origin = Origin.swift

  package init(
    name: String, nodes: [PipelineNode], edges: [PipelineEdge],
    executors: [PipelineExecutor] = [], pools: [PipelinePool] = []
  ) {
    self.name = name
    self.nodes = nodes
    self.edges = edges
    self.executors = executors
    self.pools = pools
  }

  package func node(_ id: String) -> PipelineNode? { nodes.first { $0.id == id } }
}

/// A stage in a graph.
package struct PipelineNode: Sendable {
  /// `[a-z][A-Za-z0-9-]*`, unique in the pipeline; inserted conversions have `id/convert`.
  package var id: String
  package var stage: AnyStage
  /// `nil` counts as zero and is listed in the notes.
  package var cost: Cost?
  /// The ID of a shared executor; `nil` = an executor of its own.
  package var executor: String?
  /// Whether this sink's ledger is the headline.
  package var isPrimary = false
  /// Steps in which a results sink writes numbers, by field: `box`, `score`, `scalar`.
  package var precision: [String: Double] = [:]
  /// Frames that the node may handle at once. Their outputs leave in order.
  package var concurrency = 1
  /// Whether the node owns its executor, and a thread of its own.
  package var isPinned = false
  /// What replaces a frame that fails here; `nil` = the failure is passed on.
  package var fallback: Fallback?
  /// For a stage, counted from the start of its service; for a join, from its first value.
  package var timeout: Duration?
  /// The pool whose buffers this source's or stage's frames use.
  package var pool: String?
  /// How long a sink keeps its input; `nil` = not at all.
  package var hold: Duration?
  /// The stages that a forEach applies to each item.
  package var body: PipelineBody?
  /// In a flat graph: the forEach to whose body the node belongs.
  package var scope: String?
  /// In a flat graph: the pointer to the node in the document.
  package var pointer: String?
  /// Whether the node is an inserted conversion, which is not in the document.
  package var isInserted = false
  /// The format that an inserted conversion gets.
  package var convertedFrom: PixelFormat?

  package init(id: String, stage: AnyStage, cost: Cost? = nil, executor: String? = nil) {
    self.id = id
    self.stage = stage
    self.cost = cost
    self.executor = executor
  }

  package var kind: String { stage.signature.kind }
}

/// What replaces a frame that fails at a node.
public enum Fallback: String, Hashable, Sendable, CaseIterable {
  /// The last value that left the node on this track.
  case previous
}

/// The stages of a forEach, in one chain from the item to the output that is gathered.
package struct PipelineBody: Sendable {
  package var nodes: [PipelineNode]
  package var edges: [PipelineEdge]
  /// The node whose output is gathered.
  package var output: String

  package init(nodes: [PipelineNode], edges: [PipelineEdge], output: String) {
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
    /// A stage waits; a source loses the frame before capture, unless the pool has a limit for the
    /// wait of sources.
    case block
    case drop
    case fail
  }

  package var id: String
  /// The number of buffers; for an adaptive pool, the initial number.
  package var capacity: Int
  package var policy: Policy
  /// How the pool adapts to the load; `nil` = its size is fixed.
  package var adaptive: PoolSizing?
  /// How long a source's frame waits for a buffer; `nil` = not at all.
  package var wait: Duration?
  /// Frames that the camera's driver keeps while a frame of its source waits.
  package var driverFrames: Int
  /// Whether the memory of `capacity` frames is made before the first frame. Decides nothing.
  package var isPreallocated: Bool

  package init(
    id: String, capacity: Int = 8, policy: Policy = .block, adaptive: PoolSizing? = nil,
    wait: Duration? = nil, driverFrames: Int = 0, isPreallocated: Bool = false
  ) {
    self.id = id
    self.capacity = capacity
    self.policy = policy
    self.adaptive = adaptive
    self.wait = wait
    self.driverFrames = driverFrames
    self.isPreallocated = isPreallocated
  }

  /// The smallest number of buffers that the pool can have.
  package var fewest: Int { adaptive?.smallest ?? capacity }

  /// The same pool with a fixed number of buffers.
  package func fixed(at capacity: Int) -> PipelinePool {
    PipelinePool(
      id: id, capacity: capacity, policy: policy, wait: wait, driverFrames: driverFrames,
      isPreallocated: isPreallocated)
  }
}

/// A bounded queue between two nodes.
package struct PipelineEdge: Hashable, Sendable {
  package static let defaultCapacity = 3

  package var from: String
  package var to: String
  package var fromPort: String?
  package var toPort: String?
  /// Frames that may wait here, not counting those in service.
  package var capacity: Int
  package var policy: EdgePolicy
  /// In a flat graph: the pointer to the edge in the document.
  package var pointer: String?

  package init(
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
package struct PipelineExecutor: Hashable, Sendable {
  package var id: String
  package var count: Int

  package init(id: String, count: Int = 1) {
    self.id = id
    self.count = count
  }
}
