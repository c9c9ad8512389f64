import RetakeCore

extension DecisionCore {
  /// An event of the device: each policy that depends on it decides again, once per instant.
  mutating func changeDevice(index: Int, _ turn: inout EventContext) {
    guard let event = turn.gates.deviceEvent(index) else { return }
    overrideHeat(with: event)
    changeDevice(to: event, ordinal: index)
  }

  mutating func changeDevice(to event: DeviceEvent, ordinal: Int) {
    // device-policy: the state changes first; then each throttle decides again.
    device.apply(
      event,
      hysteresisMillidegrees: heat?.model.hysteresisMillidegrees
        ?? DeviceState.hysteresisMillidegrees)
    for node in plan.nodes.indices where !isPolicyPending[node] && followsDevice(node) {
      // order-environment, device-policy: in band 1, after all device events of this instant, so
      // that the policy decides once and knows all of them.
      isPolicyPending[node] = true
      push(Event(key: releaseKey(node: node, ordinal: ordinal), kind: .policy, target: node))
    }
    pressPools(PoolPressure(event), index: ordinal)
  }

  /// Whether a policy would decide otherwise than before. The state may change once more at this
  /// instant, so the policy itself decides again.
  private func followsDevice(_ node: Int) -> Bool {
    guard case .throttle(let machine) = thinnings[node] else { return false }
    return interval(ofThrottle: node) != machine.intervalNanoseconds
  }

  private func interval(ofThrottle node: Int) -> Int64 {
    guard case .throttle(let policy) = plan.nodes[node].stage.body else { return 0 }
    return policy.intervalNanoseconds(in: device)
  }

  mutating func decidePolicy(node: Int) {
    isPolicyPending[node] = false
    guard case .throttle(var machine) = thinnings[node] else { return }
    let interval = interval(ofThrottle: node)
    // throttle-rate: an event that leaves the interval as it is writes no line.
    guard machine.changeRate(intervalNanoseconds: interval) else { return }
    thinnings[node] = .throttle(machine)
    decide(.throttle, node: node, .interval(interval))
  }

  mutating func prepareSwap(index: Int, node: Int, _ turn: inout EventContext) {
    decide(.swapPrepare, node: node)
    // swap-prepare: live, a worker prepares the stage, and a separate event reports the result.
    guard !rules.isLive else { return }
    // swap-prepare: preparing is a cost, and `every-frame` has no costs.
    let time = rules.isBounded ? turn.gates.swap(index).prepareNanoseconds : 0
    // swap-epoch: band 1, before the arrivals of the
    // same instant, which the new stage handles already.
    let key =
      time == 0
      ? releaseKey(node: node, ordinal: index)
      : EventKey(
        time: current.time + time, band: .release, phase: .control, node: node, ordinal: index)
    push(Event(key: key, kind: .swapReady, target: node, extra: index))
  }

  mutating func finishSwap(index: Int, node: Int, _ turn: inout EventContext) {
    if let code = turn.gates.swap(index).refusal {
      // swap-refused: the epoch stays, so every frame keeps the old stage.
      decide(.swapRefused, node: node, .code(code))
    } else {
      // swap-epoch: only frames that arrive from now on get this number; see `arrive`.
      epoch += 1
      turn.actions.append(.swapped(index: index))
      decide(.swap, node: node, .epoch(epoch))
    }
  }

  /// The key of an event that an environment event causes at its own instant.
  func releaseKey(node: Int, ordinal: Int) -> EventKey {
    // order-environment: band 0 is only for events from outside the run.
    EventKey(
      time: current.time, band: .release, phase: .control, node: node, ordinal: ordinal)
  }
}
