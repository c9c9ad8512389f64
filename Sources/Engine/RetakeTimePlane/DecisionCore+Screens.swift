package import RetakeCore

/// Screens are observers: they only decide when the buffers that they show are free.
extension DecisionCore {
  /// By node; `nil` if the node is not a screen. A live run has real screens, and `every-frame` has
  /// no screens.
  static func screens(of plan: GraphPlan, _ rules: Rules) -> [ScreenStateMachine?] {
    plan.nodes.map { node in
      guard rules.isBounded, !rules.isLive else { return nil }
      return node.stage.screen.map { ScreenStateMachine(clock: $0, sink: node.id) }
    }
  }

  /// The counts of all screens, in the order of their IDs.
  package var screenCounts: [ScreenCounts] {
    plan.sinks.compactMap { screens[$0]?.counts }
  }

  /// An image has arrived at a screen, which holds it until a newer one is shown.
  mutating func show(_ work: Work, on sink: Int) {
    slots.retain(work.slotIndex)
    if let replaced = screens[sink]?.add(work) {
      // screen-refresh: the image that waited will never be seen, so its buffers are free now.
      letGo(of: replaced, shownBy: sink, at: current.time)
      return
    }
    guard let clock = screens[sink]?.clock else { return }
    let tick = clock.nanoseconds(ofRefresh: clock.refresh(notBefore: current.time))
    // order-observer: the last band, so an image that arrives at this very instant is seen.
    let key = EventKey(time: tick, band: .observation, phase: .control, node: sink)
    push(Event(key: key, kind: .vsync, target: sink))
  }

  mutating func refresh(screen sink: Int) {
    let change = screens[sink]?.refresh(at: current.time) { [slots] in slots[$0.slotIndex].arrival }
    guard let change else { return }
    decide(
      .vsync, node: sink, change.shown,
      .shown(latency: change.latency, repeats: change.repeats, unseen: change.unseen))
    // order-observer: no event may follow a refresh in the same instant, so the buffers are freed a
    // nanosecond later (screen-refresh).
    if let before = change.before { letGo(of: before, shownBy: sink, at: current.time + 1) }
  }

  private mutating func letGo(of work: Work, shownBy sink: Int, at time: Int64) {
    push(.holdEnd, phase: .completion, node: sink, work: work, at: time)
  }
}
