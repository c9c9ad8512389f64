import RetakeGraph

extension DecisionCore {
  /// An event of the device: each policy that depends on it decides again, once per instant.
  mutating func changeDevice(index: Int, _ turn: inout Turn) {
    for node in turn.gates.deviceChanged(event: index) where !isPolicyPending[node] {
      isPolicyPending[node] = true
      push(Event(key: releaseKey(node: node, ordinal: index), kind: .policy, target: node))
    }
    if sizings.isInUse { pressPools(turn.gates.pressure(event: index), index: index) }
  }

  mutating func decidePolicy(node: Int, _ turn: inout Turn) {
    isPolicyPending[node] = false
    guard case .throttle(var machine) = thinnings[node] else { return }
    let interval = turn.gates.throttleInterval(node: node)
    guard machine.changeRate(intervalNanoseconds: interval) else { return }
    thinnings[node] = .throttle(machine)
    decide(.throttle, node: node, .interval(interval))
  }

  mutating func prepareSwap(index: Int, node: Int, _ turn: inout Turn) {
    decide(.swapPrepare, node: node)
    guard !rules.isLive else { return }
    let time = rules.isBounded ? turn.gates.swap(index).prepareNanoseconds : 0
    let key =
      time == 0
      ? releaseKey(node: node, ordinal: index)
      : EventKey(
        time: current.time + time, band: .release, phase: .control, node: node, ordinal: index)
    push(Event(key: key, kind: .swapReady, target: node, extra: index))
  }

  mutating func finishSwap(index: Int, node: Int, _ turn: inout Turn) {
    if let code = turn.gates.swap(index).refusal {
      decide(.swapRefused, node: node, .code(code))
    } else {
      epoch += 1
      turn.actions.append(.swapped(index: index))
      decide(.swap, node: node, .epoch(epoch))
    }
  }

  /// The key of an event that an environment event causes at its own instant.
  func releaseKey(node: Int, ordinal: Int) -> EventKey {
    EventKey(
      time: current.time, band: .release, phase: .control, node: node, ordinal: ordinal)
  }
}
