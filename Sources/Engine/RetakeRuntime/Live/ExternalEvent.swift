package import RetakeCore
package import RetakeTimePlane

/// An event that a decision core gets from outside when real time drives it. The set is closed.
package enum ExternalEvent: Hashable, Sendable {
  /// A frame reached its source.
  case arrival(FrameID)
  /// A frame reached its source, and there was no memory for its pixels.
  case allocationFailed(FrameID)
  /// A stage's body returned.
  case completion(BodyName, CompletionOutcome)
  /// No other event happened, but something that the core waits for is due.
  case timer
  /// A sink, or the user on its behalf, released a frame.
  case leaseEnded(sink: Int, FrameID)
  case environment(DeviceEvent)
  case command(LiveCommand)
  /// The swap with this index was prepared, or refused with a code.
  case swapReady(index: Int, refusal: String?)
  /// A track delivers no frames for now. The code is the cause.
  case sourceLost(track: Int, code: String)

  /// The names in a session's `external_event` table.
  package enum Kind: String, Sendable, CaseIterable {
    case arrival, allocationFailed, completion, timer, leaseEnded, environment, command
    case swapPrepared, swapRefused, sourceLost
  }

  package var kind: Kind {
    switch self {
    case .arrival: .arrival
    case .allocationFailed: .allocationFailed
    case .completion: .completion
    case .timer: .timer
    case .leaseEnded: .leaseEnded
    case .environment: .environment
    case .command: .command
    case .swapReady(_, let refusal): refusal == nil ? .swapPrepared : .swapRefused
    case .sourceLost: .sourceLost
    }
  }
}

/// Identifies one call of a stage's body.
package struct BodyName: Hashable, Sendable {
  /// The node's number in the graph.
  package var node: Int
  package var frame: FrameID
  /// −1 is the whole frame.
  package var item: Int

  package init(node: Int, frame: FrameID, item: Int = -1) {
    self.node = node
    self.frame = frame
    self.item = item
  }
}

/// A user's command to a running pipeline.
package enum LiveCommand: Hashable, Sendable {
  /// Replaces a node's stage with another one, described as in a document.
  case swap(node: Int, kind: String, options: JSONValue)
}

/// A value on which a timing decision depended while an event was handled.
package struct GateValue: Hashable, Sendable {
  package var node: Int
  package var frame: FrameID
  /// Items of a forEach, or the index of a route's port.
  package var value: Int

  package init(node: Int, frame: FrameID, value: Int) {
    self.node = node
    self.frame = frame
    self.value = value
  }
}

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
