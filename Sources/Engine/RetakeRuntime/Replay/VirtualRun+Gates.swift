import RetakeGraph
import RetakeTimePlane

/// The only place where the time plane waits for a value. The core asks these questions during an
/// event, so these answers do not read the core.
extension VirtualRun {
  func damage(slot: Int) -> String? { announced[slot]?.entry.damage }

  /// A body that can throw decides where the frame continues.
  func outcome(node: Int, work: Work) -> CompletionOutcome {
    guard let record = pendingBySlot[work.slotIndex],
      stages.isGate(node, epoch: record.epoch), let future = record.started[node, work]
    else { return .success }
    // Only the outcome of a stage that can fail is
    // waited for; it decides where the frame continues.
    switch wait(for: future) {
    case .value, .later: return .success
    case .failure(let error): return .failure(error)
    case .fault(let error):
      note(fault: error)
      return .success
    case .cancelled: preconditionFailure("what is served is never cancelled")
    }
  }

  /// A body that hangs is a fault like any other: it ends the run.
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
    // fork-take: a function of the value alone, so the time of the computation has no effect.
    return ForEachItems.count(in: value)
  }

  func port(node: Int, slot: Int) -> Int {
    guard case .route(let choose) = plan.nodes[node].stage.body,
      let value = inputValue(of: node, slot: slot), let frame = pendingBySlot[slot]?.entry.id
    else { return 0 }
    var port = 0
    workers.watching(node: node, frame: frame) { port = choose(value) }
    return nearestPort(to: port, of: node)
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

  /// A frame that was captured earlier may also be broken and not yet checked. Of several broken
  /// frames, the first one is reported.
  private func note(fault: any Error) {
    guard gateFault == nil else { return }
    // Once a wait has timed out, the time plane does not wait a second time.
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
