import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Values pass from node to node unchanged. A value arrives with an earlier event than the one that
/// reads it.
extension EventDriver {
  func start(node: Int, work: Work, ready: Int64) {
    let slot = work.slotIndex
    guard let entry = frames[slot].entry else {
      preconditionFailure("what is served was captured")
    }
    let epoch = frames[slot].epoch
    host.begin(
      BodyCall(
        name: BodyName(node: node, frame: entry.id, item: Int(work.item)),
        nodeID: plan.nodes[node].id, body: stages.call(node, epoch: epoch),
        lane: plan.nodes[node].isPinned ? node : nil,
        context: StageContext(
          frame: entry.id,
          timestamp: timestamp(of: entry), item: work.isItem ? Int(work.item) : nil),
        input: input(of: node, work: work), readyNanoseconds: ready))
    // stage-timeout: from the decision to start; a thread may begin the body later.
    core.startTimer(node: node, work: work)
  }

  /// The timestamp that stages and sinks see.
  func timestamp(of entry: FrameEntry) -> Timestamp {
    Timestamp(nanoseconds: entry.timestamp.nanoseconds - originNanoseconds)
  }

  func kept(_ node: Int, of slot: Int) -> (any PipelineValue)? { values[slot].outputs[node] }

  func combine(
    _ inputs: [any PipelineValue], at node: Int, _ work: Work, as combination: Combination
  ) -> (any PipelineValue)? {
    combination.value(of: inputs)
  }

  // Nothing is computed ahead, so it does not matter when a value is read or replaced.
  func use(_ value: any PipelineValue, of node: Int, slot: Int) {}
  func entered(_ item: Work, fork: Int) {}
  func forgetAhead(behind node: Int, slot: Int) {}
}
