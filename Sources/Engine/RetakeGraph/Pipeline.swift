/// A graph of stages. It defines the processing of each frame, not the scheduling.
///
/// A pipeline is built with the typed methods of the DSL or read from a JSON document with
/// `PipelineDocument.parse`. Both return the same value. Method calls are chained from the source
/// to the sink; settings such as `queue` and `cost` apply to the preceding node:
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

/// The value that replaces a frame's output if the frame fails at a node.
public enum Fallback: String, Hashable, Sendable, CaseIterable {
  /// The last value that left the node on this track.
  case previous
}
