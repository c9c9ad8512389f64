import RetakeCore
import RetakeGraph
import RetakeTimePlane

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

  func deviceChanged(event index: Int) -> [Int] {
    guard case .event(let event) = changes.all[index].change else { return [] }
    device.apply(event)
    // device-policy: each throttle decides again; one whose interval stays the same writes nothing.
    return plan.nodes.indices.filter { plan.nodes[$0].role == .throttle }
  }

  func pressure(event index: Int) -> PoolPressure {
    guard case .event(let event) = changes.all[index].change else { return [] }
    return PoolPressure(event)
  }

  func throttleInterval(node: Int) -> Int64 {
    guard case .throttle(let policy) = plan.nodes[node].stage.body else { return 0 }
    return policy.intervalNanoseconds(in: device)
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
