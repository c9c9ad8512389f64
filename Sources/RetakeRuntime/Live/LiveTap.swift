import RetakeCore
import RetakeGraph

/// Hears all that a live run was told and decided, so that it can be recorded and reenacted.
package protocol LiveTap: AnyObject, Sendable {
  /// Before anything is decided.
  func began(_ facts: LiveFacts)
  /// Called by whoever decides, one at a time, whenever nothing waits, and often enough in between.
  func told(_ batch: LiveBatch)
  /// Called by the thread that tells the sinks.
  func finished(_ result: LiveResult)
  /// After everything else.
  func ended(_ outcome: RunOutcome)
}

/// What a live run is.
package struct LiveFacts: Sendable {
  /// As it was given, without inserted conversions.
  package var pipeline: Pipeline
  package var nodes: [LiveNode]
  package var workers: Int
  /// When it began, on the session's time line.
  package var startedNanoseconds: Int64 = 0
  /// Subtracted from the frames' times where stages are told them.
  package var originNanoseconds: Int64 = 0
  package var tracks: [LiveTrack]

  /// The nodes' ids, by their numbers.
  package var nodeIDs: [String] { nodes.map(\.id) }
}

/// A node of a live run, inserted conversions included.
package struct LiveNode: Sendable {
  package var id: String
  package var kind: String
  package var version: Int
  package var options: JSONValue
}

/// What a live run was told and decided between two rests, each in its order.
package struct LiveBatch: Sendable {
  package var events: [StampedEvent] = []
  package var decisions: [DecisionLine] = []
  package var spans: [CostSpan] = []

  /// More than a moment's.
  static let eventsMax = 256

  var isEmpty: Bool { events.isEmpty && decisions.isEmpty && spans.isEmpty }
}
