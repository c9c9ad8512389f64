import RetakeCore

/// An external event as it was handled.
package struct StampedEvent: Hashable, Sendable {
  /// Counts from 0 without gaps.
  package var ordinal: Int
  /// On the session's time line; strictly rising.
  package var nanoseconds: Int64
  package var event: ExternalEvent
  /// The gate values that were asked for meanwhile, in order.
  package var gates: [GateValue] = []

  package init(
    ordinal: Int, nanoseconds: Int64, event: ExternalEvent, gates: [GateValue] = []
  ) {
    self.ordinal = ordinal
    self.nanoseconds = nanoseconds
    self.event = event
    self.gates = gates
  }
}
