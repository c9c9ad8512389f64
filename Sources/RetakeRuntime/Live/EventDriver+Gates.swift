import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// The core asks these questions during an event, so nothing here reads the core.
extension EventDriver {
  func damage(slot: Int) -> String? { frames[slot].damage }

  func outcome(node: Int, work: Work) -> CompletionOutcome { ending }

  func keepsInput(node: Int, slot: Int) -> Bool {
    stages.keepsInput(node, epoch: frames[slot].epoch)
  }

  func itemCount(node: Int, slot: Int) -> Int {
    gate(.items, node: node, slot: slot)
  }

  func port(node: Int, slot: Int) -> Int {
    gate(.port, node: node, slot: slot)
  }

  private func gate(_ kind: GateQuestion.Kind, node: Int, slot: Int) -> Int {
    let id = frames[slot].entry?.id ?? FrameID(track: 0, sequence: 0)
    let question = GateQuestion(
      kind: kind, node: node, frame: id, input: input(of: node, work: Work(slot: slot)))
    var value = max(0, host.gateValue(question))
    if kind == .port { value = min(value, plan.nodes[node].stage.outputPorts.count - 1) }
    // Recorded with the event: a reenactment answers the same, even if a value differs then.
    gates.append(GateValue(node: node, frame: id, value: value))
    return value
  }

  func deviceEvent(_ index: Int) -> DeviceEvent? { deviceEvents[index] }

  func swap(_ index: Int) -> (refusal: String?, prepareNanoseconds: Int64) {
    // swap-prepare: preparing has taken its real time already.
    (swaps[index].refusal, 0)
  }
}
