package import RetakeCore
package import RetakeGraph
package import RetakeTimePlane

/// Receives every event and every decision of a live run, so that the run can be recorded and
/// reproduced.
package protocol LiveTap: AnyObject, Sendable {
  /// Before anything is decided.
  func began(_ facts: LiveFacts)
  /// Called by the deciding thread, one call at a time, when no message waits, and regularly
  /// meanwhile.
  func told(_ batch: LiveBatch)
  /// Called by the thread that calls the sinks.
  func finished(_ result: LiveResult)
  /// After everything else.
  func ended(_ outcome: RunOutcome)
}

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

/// A node of a live run; conversions that were inserted are nodes too.
package struct LiveNode: Sendable {
  package var id: String
  package var kind: String
  package var version: Int
  package var options: JSONValue
}

/// The events, decisions and costs of a live run between two flushes, each in order.
package struct LiveBatch: Sendable {
  package var events: [StampedEvent] = []
  package var decisions: [DecisionLine] = []
  package var spans: [CostSpan] = []

  /// A batch is flushed at this number of events, even if more messages wait.
  static let eventsMax = 256

  var isEmpty: Bool { events.isEmpty && decisions.isEmpty && spans.isEmpty }
}
