import RetakeCore

/// Events of the device, and swaps.
extension VirtualRun {
  func addChanges() {
    // device-order: the index in `changes.all` orders the events of one instant.
    for (index, timed) in changes.all.enumerated() {
      switch timed.change {
      case .event: core.addEnvironment(.environment, index: index, node: 0, time: timed.time)
      case .swap(_, let node, _):
        core.addEnvironment(.swapPrepare, index: index, node: node, time: timed.time)
      }
    }
  }

  func deviceEvent(_ index: Int) -> DeviceEvent? {
    guard case .event(let event) = changes.all[index].change else { return nil }
    return event
  }

  func swap(_ index: Int) -> (refusal: String?, prepareNanoseconds: Int64) {
    guard case .swap(let swap, _, let refusal) = changes.all[index].change else { return (nil, 0) }
    return (refusal, max(0, swap.prepare.nanoseconds))
  }

  func putInForce(_ index: Int) {
    guard case .swap(let swap, let node, _) = changes.all[index].change else { return }
    // swap-epoch: the new stage is added. Frames of earlier epochs still find the old one.
    stages.swap(node: node, to: swap.stage, cost: swap.cost)
  }
}
