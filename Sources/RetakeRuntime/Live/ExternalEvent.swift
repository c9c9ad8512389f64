import RetakeCore

/// What a decision core is told from outside when real time drives it: a closed set.
package enum ExternalEvent: Hashable, Sendable {
  /// A frame reached its source.
  case arrival(FrameID)
  /// A frame reached its source, and there was no memory for its pixels.
  case allocationFailed(FrameID)
  /// A stage's body returned.
  case completion(BodyName, CompletionOutcome)
  /// Nothing else happened, but something that the core waits for is due.
  case timer
  /// A sink has let go of a frame; it, or the user on its behalf.
  case leaseEnded(sink: Int, FrameID)
  case environment(DeviceEvent)
  case command(LiveCommand)
  /// The swap of this index was prepared; or refused, with a code.
  case swapReady(index: Int, refusal: String?)
  /// A track brings no frames for now, for this cause.
  case sourceLost(track: Int, code: String)

  /// The words in a session's `external_event` table.
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

/// One call of a stage's body, by its place.
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

/// What a user tells a pipeline that runs.
package enum LiveCommand: Hashable, Sendable {
  /// Another stage shall take a node's place: what it is, as a document says it.
  case swap(node: Int, kind: String, options: JSONValue)
}

/// A value that decided about time while an event was handled.
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
  /// What was asked while it was handled, in order.
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
