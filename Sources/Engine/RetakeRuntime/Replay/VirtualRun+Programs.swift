import RetakeBuffers
import RetakeCore
import RetakeGraph

/// The last call of a whole program, before its next call.
struct OpenProgram {
  let instance: any ProgramInstance
  let frame: PendingFrame
  /// The complete value of the frame. It is submitted when the pause after the frame is known.
  let complete: ValueFuture
  fileprivate let pause: ProgramPauseBox
}

/// The pause after a frame: written before the future that reads it is submitted.
private final class ProgramPauseBox: Sendable {
  private let value = Locked(ProgramPause.abandoned)

  var pause: ProgramPause {
    get { value.withLock { $0 } }
    set { value.withLock { $0 = newValue } }
  }
}

/// Whole programs: stages that have timers, and so compute between two frames as well.
///
/// Only sinks wait for a program's value, so timers are not events of the time plane. They are
/// called in the value plane, between two calls of the program, at times that depend only on the
/// decisions.
extension VirtualRun {
  /// The complete value of a frame whose call of a program begins now; `nil` for other stages.
  func openProgram(of node: Int, _ frame: PendingFrame, call: ValueFuture) -> ValueFuture? {
    let version = stages.version(of: node, epoch: frame.epoch)
    guard let instance = stages[node, version].program else { return nil }
    let box = ProgramPauseBox()
    let complete = ValueFuture(
      node: node, frame: frame.entry.id, inputs: [call], isNeeded: true,
      isDigested: observer.wantsDigests
    ) { inputs in
      guard case .value(let value) = inputs[0] else { return inputs[0] }
      return .value(instance.pause(value, box.pause))
    }
    // The next call of the program comes after the timers.
    stages[node, version].chainTail = complete
    frame.openPrograms += 1
    openPrograms[node] = OpenProgram(
      instance: instance, frame: frame, complete: complete, pause: box)
    return complete
  }

  /// Ends the last frame of the program: only the timers of the pause still add to its value.
  func closeProgram(of node: Int, _ pause: ProgramPause) {
    guard let open = openPrograms.removeValue(forKey: node) else { return }
    // program-timers: the value of the frame is complete when the timers up to the next frame have
    // been called, so only now may it be computed.
    open.pause.pause = pause
    open.frame.started.outputs[node] = open.complete
    open.frame.openPrograms -= 1
    workers.submit(open.complete)
  }

  func closePrograms(_ pause: ProgramPause) {
    // Sorted, so that the order of a dictionary has no effect.
    for node in openPrograms.keys.sorted() { closeProgram(of: node, pause) }
  }

  /// Calls the timers that are left when there are no more frames. A fault of one of them halts the
  /// run at the last frame of its program.
  func endPrograms() throws {
    for node in openPrograms.keys.sorted() {
      guard let open = openPrograms[node] else { continue }
      closeProgram(of: node, .end)
      _ = try workers.help(open.complete)
      guard outcome.halt == nil, let error = open.instance.fault else { continue }
      let failure = StageFailure(
        frame: open.frame.entry.id, node: plan.nodes[node].id, code: error.code,
        message: error.message, isRecoverable: false)
      outcome.note(failure)
      observer.failed(failure)
      outcome.halt = failure
    }
  }

  /// The part of a program's value that belongs to a sink; other values as they are.
  func programOuts(in value: ValueFuture, for sink: Int, of frame: PendingFrame) -> ValueFuture {
    guard let edge = plan.nodes[sink].inEdge,
      plan.nodes[plan.edges[edge].from].stage.programSinks != nil
    else { return value }
    let id = plan.nodes[sink].id
    let part = ValueFuture(
      node: sink, frame: frame.entry.id, inputs: [value], isNeeded: true, isDigested: false
    ) { inputs in
      guard case .value(let outs as ProgramOuts) = inputs[0], let value = outs.value(for: id) else {
        return inputs[0]
      }
      return .value(value)
    }
    workers.submit(part)
    return part
  }
}
