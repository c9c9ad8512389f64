import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// Values pass from node to node unchanged. A value arrives with an earlier event than the one that
/// reads it.
extension EventDriver {
  /// The value that a node gets through one of its ports; `nil` if it could not be computed again.
  func input(of node: Int, port: Int = 0, work: Work) -> (any PipelineValue)? {
    let upstream = plan.edges[plan.nodes[node].inEdges[port]].from
    return values[work.slotIndex][upstream, work]
  }

  func start(node: Int, work: Work, ready: Int64) {
    let slot = work.slotIndex
    guard let entry = values[slot].entry else {
      preconditionFailure("what is served was captured")
    }
    let epoch = values[slot].epoch
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

  func join(node: Int, slot: Int, ports: UInt32) {
    let inputs = plan.nodes[node].inEdges.indices.map { port in
      ports & 1 << UInt32(port) == 0
        ? nil : input(of: node, port: port, work: Work(slot: slot))
    }
    setJoined(node, slot: slot, inputs: inputs, wanted: ports.nonzeroBitCount)
  }

  func latest(node: Int, slot: Int, others: [Int]) {
    var inputs = [input(of: node, work: Work(slot: slot))]
    for (index, other) in others.enumerated() {
      let upstream = plan.edges[plan.nodes[node].inEdges[index + 1]].from
      inputs.append(other < 0 ? nil : values[other].outputs[upstream])
    }
    setJoined(node, slot: slot, inputs: inputs, wanted: 1 + others.count { $0 >= 0 })
  }

  /// If a value could not be computed again, there is nothing to join.
  private func setJoined(
    _ node: Int, slot: Int, inputs: [(any PipelineValue)?], wanted: Int
  ) {
    guard inputs.count(where: { $0 != nil }) == wanted else { return }
    values[slot].outputs[node] = Joined(
      zip(plan.nodes[node].stage.inputPorts, inputs).map { Joined.Part(port: $0, value: $1) })
  }

  func fanOut(node: Int, slot: Int, items: Int) {
    // The recorded number of items counts, even if the value, computed again, has another one.
    let whole = input(of: node, work: Work(slot: slot))
    values[slot].items[node] = (0..<items).map { item in
      whole.flatMap { ForEachItems.region(item, of: $0) }
    }
  }

  func gather(node: Int, slot: Int) {
    guard let fork = plan.nodes[node].fork, let edge = plan.nodes[node].inEdge,
      let whole = input(of: fork, work: Work(slot: slot))
    else { return }
    let last = plan.edges[edge].from
    let failed = values[slot].failedItems[fork] ?? [:]
    var outcomes: [Items.Outcome] = []
    for item in 0..<(values[slot].items[fork]?.count ?? 0) {
      if let code = failed[item] {
        // gather-close: a failed item keeps its place in the list.
        outcomes.append(.failed(code: code))
      } else if let value = values[slot][last, Work(slot: slot, item: item)] {
        outcomes.append(.value(value))
      } else {
        return
      }
    }
    // The results cannot be gathered if the recorded count differs from the recomputed one.
    guard ForEachItems.input(whole)?.1.items.count == outcomes.count else { return }
    values[slot].outputs[node] = ForEachItems.gathered(
      whole, outcomes: outcomes,
      isClassified: plan.nodes[last].stage.signature.output == .classes)
  }
}
