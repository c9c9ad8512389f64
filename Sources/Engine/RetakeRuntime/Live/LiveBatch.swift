package import RetakeCore
package import RetakeTimePlane

/// The events, decisions and costs of a live run between two flushes, each in order.
package struct LiveBatch: Sendable {
  package var events: [StampedEvent] = []
  package var decisions: [DecisionLine] = []
  package var spans: [CostSpan] = []

  /// A batch is flushed at this number of events, even if more messages wait.
  static let eventsMax = 256

  var isEmpty: Bool { events.isEmpty && decisions.isEmpty && spans.isEmpty }
}
