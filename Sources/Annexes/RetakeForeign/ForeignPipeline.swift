import RetakeBuffers
import RetakeCore
import RetakeGraph

/// A whole program in one run. The run uses one copy, which begins with a reset.
final class ForeignPipeline: ProgramInstance, @unchecked Sendable {
  // SAFETY: @unchecked; calls are made in service order, so each call happens before the next one.
  private let pool: ForeignPool
  private var child: ForeignChild?
  private(set) var fault: StageError?
  private var timers = ProgramTimers()
  /// Of the frame that the program was given last.
  private var last: StageContext?

  init(_ pool: ForeignPool) { self.pool = pool }

  deinit {
    if let child { pool.giveBack(child) }
  }

  func process(_ input: any PipelineValue, _ context: StageContext) -> StageOutcome {
    guard let frame = input as? Frame else { return .failure(.noFrame) }
    if let fault { return .failure(fault) }
    do throws(ForeignFault) {
      let child = try begun(context)
      timers.advance(to: context.nowNanoseconds)
      last = context
      var outs = pool.ready.emptyOuts
      try call(.frame(frame), of: child, context, &outs)
      return .success(outs)
    } catch {
      return .failure(keep(error))
    }
  }

  func pause(_ value: any PipelineValue, _ pause: ProgramPause) -> any PipelineValue {
    guard fault == nil, let child, let last, var outs = value as? ProgramOuts else { return value }
    do throws(ForeignFault) {
      switch pause {
      case .abandoned: return value
      case .until(let nanoseconds):
        // Bounded: each timer advances the time, or counts as one more of its instant.
        while let due = timers.next(upTo: nanoseconds) {
          try call(.timer(due), of: child, last, &outs)
        }
      case .end:
        // program-end: a timer that one of these sets is not called, so that a program which always
        // sets the next one ends.
        let mark = timers.mark
        while let due = timers.next(of: mark) { try call(.timer(due), of: child, last, &outs) }
        // The answer to the reset proves that the program sends no messages after the last `done`.
        try child.reset()
      }
    } catch {
      _ = keep(error)
    }
    return outs
  }

  func reset() {
    timers = ProgramTimers()
    guard let child else { return }
    do throws(ForeignFault) { try child.reset() } catch { _ = keep(error) }
  }

  private func call(
    _ call: ProgramCall, of child: ForeignChild, _ context: StageContext, _ outs: inout ProgramOuts
  ) throws(ForeignFault) {
    try child.call(call, context) { word throws(ForeignFailure) in
      switch word {
      case .timer(let id, let nanoseconds): try timers.set(id, at: nanoseconds)
      case .cancel(let id): timers.cancel(id)
      case .out(let name, let sequence, let json):
        // A timer comes after the last frame, and its values belong there.
        guard sequence == context.frame.sequence else {
          throw .wrongFrame(
            expected: "frame \(context.frame.sequence)", answered: "frame \(sequence) with 'out'")
        }
        outs.add(try value(json, for: name), to: name)
      }
    }
  }

  private func value(
    _ json: JSONValue, for name: String
  ) throws(ForeignFailure) -> any PipelineValue {
    guard let sink = pool.ready.sinks.first(where: { $0.name == name }) else {
      throw .badValue("'ready' has no sink '\(name.shortened)'")
    }
    do {
      return try sink.output.value(json, classNames: pool.ready.classNames)
    } catch {
      throw .badValue("for '\(name)': \(error.placedMessage)")
    }
  }

  private func keep(_ fault: ForeignFault) -> StageError {
    child = nil
    self.fault = fault.stageError
    return fault.stageError
  }

  private func begun(_ context: StageContext) throws(ForeignFault) -> ForeignChild {
    if let child { return child }
    let child = try pool.borrow(context)
    self.child = child
    return child
  }
}
