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

/// A user's command to a running pipeline.
package enum LiveCommand: Hashable, Sendable {
  /// Replaces a node's stage with another one, described as in a document.
  case swap(node: Int, kind: String, options: JSONValue)
}
