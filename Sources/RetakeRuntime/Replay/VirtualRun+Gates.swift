import RetakeCore
import RetakeGraph

/// The time plane waits here, and nowhere else, for a value. The core is at work while it asks, so
/// nothing here looks at it.
extension VirtualRun: GateKeeper {
  func damage(slot: Int) -> String? { announced[slot]?.entry.damage }

  /// A body that can throw decides about the frame's way on.
  func outcome(node: Int, work: Work) -> CompletionOutcome {
    guard let record = pendingBySlot[work.slotIndex],
      stages.isGate(node, epoch: record.epoch), let future = record.started(node, work)
    else { return .success }
    switch wait(for: future) {
    case .value, .later: return .success
    case .failure(let error): return .failure(error)
    case .fault(let error):
      note(fault: error)
      return .success
    case .cancelled: preconditionFailure("what is served is never cancelled")
    }
  }

  /// A body that hangs is a fault like others: it ends the run.
  private func wait(for future: ValueFuture) -> ValueOutcome {
    do throws(HungBody) {
      return try workers.help(future)
    } catch {
      return .fault(error)
    }
  }

  func keepsInput(node: Int, slot: Int) -> Bool {
    guard let record = pendingBySlot[slot] else { return false }
    return stages.keepsInput(node, epoch: record.epoch)
  }

  func itemCount(node: Int, slot: Int) -> Int {
    guard let value = inputValue(of: node, slot: slot) else { return 0 }
    return ForEachItems.input(value)?.1.items.count ?? 0
  }

  func port(node: Int, slot: Int) -> Int {
    guard case .route(let choose) = plan.nodes[node].stage.body,
      let value = inputValue(of: node, slot: slot), let frame = pendingBySlot[slot]?.entry.id
    else { return 0 }
    var port = 0
    workers.watching(node: node, frame: frame) { port = choose(value) }
    return min(max(0, port), plan.nodes[node].stage.outputPorts.count - 1)
  }

  private func inputValue(of node: Int, slot: Int) -> (any PipelineValue)? {
    guard let future = input(of: node, work: Work(slot: slot)) else { return nil }
    switch wait(for: future).resolved {
    case .value(let value): return value
    case .failure(let error):
      note(fault: error)
      return nil
    case .fault(let error):
      note(fault: error)
      return nil
    case .cancelled, .later: preconditionFailure("what is taken is never cancelled")
    }
  }

  /// A frame that was captured earlier may be broken too, and not be looked at yet: of several
  /// broken frames the first one is named.
  private func note(fault: any Error) {
    guard gateFault == nil else { return }
    // Whoever waited in vain once does not wait again.
    guard !(fault is HungBody) else {
      gateFault = fault
      return
    }
    do {
      for frame in pending { try checkFaults(of: frame) }
      gateFault = fault
    } catch {
      gateFault = error
    }
  }
}

extension PendingFrame {
  func started(_ node: Int, _ work: Work) -> ValueFuture? {
    guard work.isItem else { return started[node] }
    let items = startedItems[node] ?? []
    return items.indices.contains(Int(work.item)) ? items[Int(work.item)] : nil
  }
}
