package import RetakeCore
package import RetakeGraph

/// What the core requests from its driver, in the order in which it decided it.
package enum Action: Hashable, Sendable {
  /// The frame was admitted at a source.
  case captured(slot: Int)
  /// The frame was lost before capture; the slot is free again after this action.
  case lost(slot: Int)
  /// A server begins to serve the frame or item, which arrived at the time `ready`. The driver
  /// computes the body and reports when it will be done.
  case start(node: Int, work: Work, ready: Int64)
  /// A node without cost passes its input on unchanged.
  case pass(node: Int, slot: Int)
  /// The value of the frame in another slot replaces the failed value.
  case fallback(node: Int, slot: Int, from: Int)
  /// A frame enters the body of a forEach.
  case fanOut(node: Int, slot: Int, items: Int)
  case gather(node: Int, slot: Int)
  /// A frame continues with the values of these ports, as bits.
  case join(node: Int, slot: Int, ports: UInt32)
  /// A frame continues with the values of these slots at the ports after the first; −1 = none.
  case latest(node: Int, slot: Int, from: [Int])
  case deliver(sink: Int, slot: Int)
  case end(sink: Int, slot: Int, FrameFate, node: Int)
  /// A stage, source or pool failed; reported once.
  case report(node: Int, work: Work, StageError)
  /// Everything about the frame is decided: no more work for it will start.
  case settled(slot: Int)
  /// No value of the frame is held any more; the slot is free again after this action.
  case freed(slot: Int)
  /// The swap with this index is in force for the frames that arrive from now on.
  case swapped(index: Int)
  /// An unrecoverable failure, which was reported before. The run ends here.
  case halt(node: Int, work: Work)
}

/// The part of a body's outcome on which timing depends.
package enum CompletionOutcome: Hashable, Sendable {
  case success
  case failure(StageError)
}

/// The few values that the time plane waits for.
package protocol ValueProvider: AnyObject {
  /// The code with which a frame fails at its source.
  func damage(slot: Int) -> String?
  /// Whether a body succeeded.
  func outcome(node: Int, work: Work) -> CompletionOutcome
  /// Whether the output of the stage that handles a frame keeps its input.
  func keepsInput(node: Int, slot: Int) -> Bool
  /// How many items a forEach makes of a frame.
  func itemCount(node: Int, slot: Int) -> Int
  /// The port to which a route sends a frame.
  func port(node: Int, slot: Int) -> Int
  /// The event of the device with this index; `nil` if the index is a swap's.
  func deviceEvent(_ index: Int) -> DeviceEvent?
  /// Whether a prepared swap is refused, with the code, and how long the preparation takes, in
  /// nanoseconds.
  func swap(_ index: Int) -> (refusal: String?, prepareNanoseconds: Int64)
}

/// The answers of a run without values: no body fails or keeps its input, and the device has no
/// events.
package protocol GateKeeperWithoutValues: ValueProvider {}

extension GateKeeperWithoutValues {
  package func damage(slot: Int) -> String? { nil }
  package func outcome(node: Int, work: Work) -> CompletionOutcome { .success }
  package func keepsInput(node: Int, slot: Int) -> Bool { false }
  package func itemCount(node: Int, slot: Int) -> Int { 0 }
  package func port(node: Int, slot: Int) -> Int { 0 }
  package func deviceEvent(_ index: Int) -> DeviceEvent? { nil }
  package func swap(_ index: Int) -> (refusal: String?, prepareNanoseconds: Int64) { (nil, 0) }
}

/// The handling of one event: the questions that the core may ask, and the actions that it
/// requests.
package struct EventContext {
  package let gates: any ValueProvider
  package var actions: [Action] = []

  package init(gates: any ValueProvider) {
    self.gates = gates
  }
}
