import RetakeGraph
import RetakeTimePlane

/// Measures a call of a stage's body.
struct BodyMeter {
  let clock: any LiveClock
  let shift: Int64
  let start: Int64
  let processorStart: Int64

  init(clock: any LiveClock, shift: Int64) {
    self.clock = clock
    self.shift = shift
    start = clock.monotonicNanoseconds
    processorStart = clock.threadNanoseconds
  }

  func span(of call: BodyCall, executor: String, _ outcome: StageOutcome) -> CostSpan {
    let processor = max(0, clock.threadNanoseconds - processorStart)
    let end = max(start, clock.monotonicNanoseconds)
    let code: String
    switch outcome {
    case .success: code = CostSpan.done
    case .failure(let error): code = error.code
    }
    return CostSpan(
      node: call.nodeID, frame: call.name.frame, item: call.name.item,
      readyNanoseconds: call.readyNanoseconds, startNanoseconds: start + shift,
      endNanoseconds: end + shift, processorNanoseconds: processor, executor: executor,
      outcome: code)
  }
}
