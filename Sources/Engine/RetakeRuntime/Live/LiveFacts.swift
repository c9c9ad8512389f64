package import RetakeGraph

/// Describes a live run.
package struct LiveFacts: Sendable {
  /// The pipeline as it was given, without inserted conversions.
  package var pipeline: Pipeline
  package var nodes: [LiveNode]
  package var workers: Int
  /// When the run began, on the session's time line.
  package var startedNanoseconds: Int64 = 0
  /// Subtracted from the frames' times before stages see them.
  package var originNanoseconds: Int64 = 0
  package var tracks: [LiveTrack]

  /// The IDs of the nodes, by number.
  package var nodeIDs: [String] { nodes.map(\.id) }
}
