import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// A driver of the decision core: `VirtualRun` in replay, `EventDriver` live and in a reproduction.
///
/// `carryOut` moves values in the same way for both. A handle stands for a value: in replay it is a
/// future that may still be computing, live it is the value itself. Each driver implements the
/// rest: time, the bodies of stages, and the reports to observers.
protocol CoreDriver: ValueProvider {
  associatedtype Handle
  /// Ends the run if a body cannot start.
  associatedtype StartError: Error

  var plan: GraphPlan { get }
  /// Subtracted from the frames' times before stages and sinks see them.
  var originNanoseconds: Int64 { get }
  /// By slot.
  var values: [FrameValues<Handle>] { get set }

  // MARK: Values

  /// A node of the same frame reads the value of a node.
  func use(_ value: Handle, of node: Int, slot: Int)
  /// The value of another frame, which a latest join kept and reads now.
  func kept(_ node: Int, of slot: Int) -> Handle?
  /// A value that the engine itself computes; `nil` if it could not be computed again.
  func combine(
    _ inputs: [Handle], at node: Int, _ work: Work, as combination: Combination
  ) -> Handle?
  /// An item entered the body of a forEach.
  func entered(_ item: Work, fork: Int)
  /// A fallback will replace the value of a node.
  func forgetAhead(behind node: Int, slot: Int)

  // MARK: Frames

  func capture(_ slot: Int)
  func lose(_ slot: Int)
  func start(node: Int, work: Work, ready: Int64) throws(StartError)
  /// Starts bodies that end together.
  func startBatch(node: Int, _ starts: [Action.Start]) throws(StartError)
  /// - Parameter value: `nil` if it could not be computed again.
  func deliver(_ value: Handle?, to sink: Int, slot: Int)
  func end(sink: Int, slot: Int, _ fate: FrameFate, node: Int)
  func report(_ error: StageError, node: Int, work: Work)
  func settle(_ slot: Int)
  func free(_ slot: Int)
  func putInForce(_ swap: Int)
  func halt(node: Int, slot: Int)
}

extension CoreDriver {
  /// Carries out an action that the core decided on.
  func carryOut(_ action: Action) throws(StartError) {
    switch action {
    case .captured(let slot): capture(slot)
    case .lost(let slot): lose(slot)
    case .start(let node, let work, let ready): try start(node: node, work: work, ready: ready)
    case .startBatch(let node, let starts): try startBatch(node: node, starts)
    case .pass(let node, let slot):
      values[slot].outputs[node] = input(of: node, work: Work(slot: slot))
    case .fallback(let node, let slot, let previous):
      forgetAhead(behind: node, slot: slot)
      // stage-fallback: from here on this frame's value is the value of an earlier frame.
      values[slot].outputs[node] = values[previous].outputs[node]
    case .fanOut(let node, let slot, let items): fanOut(node: node, slot: slot, items: items)
    case .gather(let node, let slot): gather(node: node, slot: slot)
    case .join(let node, let slot, let ports):
      join(node: node, slot: slot, ports: ports) {
        input(of: node, port: $0, work: Work(slot: slot))
      }
    case .latest(let node, let slot, let others): latest(node: node, slot: slot, others: others)
    case .deliver(let sink, let slot):
      deliver(input(of: sink, work: Work(slot: slot)), to: sink, slot: slot)
    case .end(let sink, let slot, let fate, let node): end(sink: sink, slot: slot, fate, node: node)
    case .report(let node, let work, let error):
      if work.isItem, let fork = plan.nodes[node].fork {
        values[work.slotIndex].failedItems[fork, default: [:]][Int(work.item)] = error.code
      }
      report(error, node: node, work: work)
    case .settled(let slot): settle(slot)
    case .freed(let slot): free(slot)
    case .swapped(let index): putInForce(index)
    case .halt(let node, let work): halt(node: node, slot: work.slotIndex)
    }
  }

  /// The value that a node gets through one of its ports; `nil` if it could not be computed again.
  func input(of node: Int, port: Int = 0, work: Work) -> Handle? {
    let upstream = plan.edges[plan.nodes[node].inEdges[port]].from
    guard let value = values[work.slotIndex][upstream, work] else { return nil }
    use(value, of: upstream, slot: work.slotIndex)
    return value
  }

  /// The timestamp that stages and sinks see.
  func timestamp(of entry: FrameEntry) -> Timestamp {
    Timestamp(nanoseconds: entry.timestamp.nanoseconds - originNanoseconds)
  }

  // MARK: Joins

  private func latest(node: Int, slot: Int, others: [Int]) {
    var ports: UInt32 = 1
    for (index, other) in others.enumerated() where other >= 0 { ports |= 2 << UInt32(index) }
    join(node: node, slot: slot, ports: ports) { port in
      guard port > 0 else { return input(of: node, work: Work(slot: slot)) }
      return kept(plan.edges[plan.nodes[node].inEdges[port]].from, of: others[port - 1])
    }
  }

  private func join(node: Int, slot: Int, ports: UInt32, value: (Int) -> Handle?) {
    var parts: [Handle] = []
    parts.reserveCapacity(ports.nonzeroBitCount)
    for port in plan.nodes[node].inEdges.indices where ports & 1 << UInt32(port) != 0 {
      // If a value could not be computed again, there is no joined value.
      guard let part = value(port) else { return }
      parts.append(part)
    }
    values[slot].outputs[node] = combine(
      parts, at: node, Work(slot: slot),
      as: .joined(names: plan.nodes[node].stage.inputPorts, ports: ports))
  }

  // MARK: forEach

  private func fanOut(node: Int, slot: Int, items: Int) {
    guard items > 0 else { return }
    // The recorded number of items counts, even if the value, computed again, has another one.
    values[slot].items[node] = Array(repeating: nil, count: items)
    guard let whole = input(of: node, work: Work(slot: slot)) else { return }
    let inputs = [whole]
    for item in 0..<items {
      let work = Work(slot: slot, item: item)
      values[slot][node, work] = combine(inputs, at: node, work, as: .region(item))
      entered(work, fork: node)
    }
  }

  /// Puts the items of a frame back in order, including failed items.
  private func gather(node: Int, slot: Int) {
    guard let fork = plan.nodes[node].fork, let edge = plan.nodes[node].inEdge,
      let whole = input(of: fork, work: Work(slot: slot))
    else { return }
    let last = plan.edges[edge].from
    let count = values[slot].items[fork]?.count ?? 0
    let failed = values[slot].failedItems[fork] ?? [:]
    var inputs = [whole]
    inputs.reserveCapacity(1 + count)
    for item in 0..<count where failed[item] == nil {
      // If an item could not be computed again, there is no gathered value.
      guard let output = values[slot][last, Work(slot: slot, item: item)] else { return }
      inputs.append(output)
    }
    values[slot].outputs[node] = combine(
      inputs, at: node, Work(slot: slot),
      as: .gathered(
        count: count, failed: failed,
        isClassified: plan.nodes[last].stage.signature.output == .classes))
  }
}

/// Answers to the core.
extension CoreDriver {
  func nearestPort(to index: Int, of route: Int) -> Int {
    // route-port: an index outside the ports is the nearest port, so each frame has one path.
    min(max(0, index), plan.nodes[route].stage.outputPorts.count - 1)
  }
}

/// How the engine itself computes a value from others, at joins and forEach nodes.
enum Combination: Sendable {
  /// The input at each of a join's ports that has its bit set.
  case joined(names: [String], ports: UInt32)
  /// The item of a forEach's input.
  case region(Int)
  /// A forEach's input with the outputs of its items, apart from the failed items.
  ///
  /// - Parameter failed: The codes of failed items.
  case gathered(count: Int, failed: [Int: String], isClassified: Bool)

  /// `nil` if the input of a forEach was computed again, and has another number of items.
  func value(of inputs: [any PipelineValue]) -> (any PipelineValue)? {
    switch self {
    case .joined(let names, let ports):
      var rest = inputs[...]
      return Joined(
        names.indices.map { port in
          Joined.Part(
            port: names[port], value: ports & 1 << UInt32(port) == 0 ? nil : rest.popFirst())
        })
    case .region(let item): return ForEachItems.region(item, of: inputs[0])
    case .gathered(let count, let failed, let isClassified):
      guard ForEachItems.count(in: inputs[0]) == count else { return nil }
      var rest = inputs[1...]
      // gather-close: a failed item keeps its place, so items and outcomes have the same indexes.
      let outcomes = (0..<count).map { item -> Items.Outcome in
        failed[item].map { .failed(code: $0) } ?? .value(rest.removeFirst())
      }
      return ForEachItems.gathered(inputs[0], outcomes: outcomes, isClassified: isClassified)
    }
  }
}
