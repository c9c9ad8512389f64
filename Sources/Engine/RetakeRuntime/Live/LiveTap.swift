package import RetakeCore
import RetakeGraph

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

/// A node of a live run; conversions that were inserted are nodes too.
package struct LiveNode: Sendable {
  package var id: String
  package var kind: String
  package var version: Int
  package var options: JSONValue
}
