package import RetakeBuffers
import RetakeCore

/// A stage in a graph.
package struct PipelineNode: Sendable {
  /// `[a-z][A-Za-z0-9-]*`, unique in the pipeline; inserted conversions have `id/convert`.
  package var id: String
  package var stage: AnyStage
  /// `nil` counts as zero and is listed in the notes.
  package var cost: Cost?
  /// Added to the cost of a batch for each of its frames.
  package var costPerFrame: Duration?
  /// The frames that the stage handles together; `nil` = one frame at a time.
  package var batch: PipelineBatch?
  /// The ID of a shared executor; `nil` = an executor for this node alone.
  package var executor: String?
  /// Whether this sink's ledger is the headline.
  package var isPrimary = false
  /// Steps in which a results sink writes numbers, by field: `box`, `score`, `scalar`.
  package var precision: [String: Double] = [:]
  /// Frames that the node may handle at once. Their outputs leave in order.
  package var concurrency = 1
  /// Whether the node has its own executor and its own thread.
  package var isPinned = false
  /// The value that replaces the output of a frame that fails here; `nil` = the failure is passed
  /// on.
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
