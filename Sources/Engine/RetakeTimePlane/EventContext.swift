package import RetakeCore

/// The few values that the time plane waits for.
package protocol ValueProvider: AnyObject {
  /// The code of a frame that fails at its source; `nil` for a frame that is intact.
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
  /// The code of a refused swap (`nil` if it is accepted), and the duration of the preparation in
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
