/// Input of a core when real time, and not a model, decides when things end.
extension DecisionCore {
  /// A body has begun. Its duration is unknown, but its timeout starts now.
  package mutating func startTimer(node: Int, work: Work) {
    guard plan.nodes[node].timeoutNanoseconds != nil else { return }
    addStageTimeout(node: node, work: work)
  }

  mutating func addStageTimeout(node: Int, work: Work) {
    guard let timeout = plan.nodes[node].timeoutNanoseconds else { return }
    // stage-timeout: control comes after completion, so
    // a body that ends at exactly this time is in time.
    push(
      .stageTimeout, phase: .control, node: node, work: work, at: current.time + timeout,
      extra: Int(slots[work.slotIndex].generation))
  }

  /// A body has returned, at a time after everything that was handled.
  package mutating func addEnd(ofBody node: Int, work: Work, time: Int64) {
    push(.completion, phase: .completion, node: node, work: work, at: time)
  }

  /// A sink has released a frame.
  package mutating func addLeaseEnd(sink: Int, slot: Int, time: Int64) {
    push(.holdEnd, phase: .completion, node: sink, work: Work(slot: slot), at: time)
  }

  /// A swap was prepared, or refused. The gates return the result.
  package mutating func addSwapReady(index: Int, node: Int, time: Int64) {
    let key = EventKey(
      time: time, band: .release, phase: .control, node: node, ordinal: index)
    push(Event(key: key, kind: .swapReady, target: node, extra: index))
  }

  /// Whether a node's body is running for the frame or item.
  package func isRunning(node: Int, work: Work) -> Bool { concurrency[node].isRunning(work) }

  /// Whether the outcome of the body is still wanted. It is not wanted after the body's timeout.
  package func isOpen(node: Int, work: Work) -> Bool { concurrency[node].isOpen(work) }
}
