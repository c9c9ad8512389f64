import RetakeBuffers
import RetakeCore
import RetakeGraph

/// A captured frame, until its outcomes have been reported.
final class LiveFrame: @unchecked Sendable {
  // @unchecked: `isOpen` belongs to the thread that decides, `outcomes` to the thread that reports,
  // and `failures` to the deciding thread until the frame is settled. A queue carries the frame
  // from the first thread to the second.
  struct Told: Sendable {
    var content: SinkOutcome.Content
    var classNames: [String] = []
    /// `nil` if the frame ended before the sink.
    var deliveredNanoseconds: Int64?
    var isComputed = true
  }

  let entry: FrameEntry
  /// The timestamp that stages and sinks see, relative to the run's origin.
  let timestamp: Timestamp
  let arrival: Int64
  /// Sinks that have no outcome yet, by position.
  var isOpen: [Bool]
  /// By position; `nil` for sinks whose ledger does not count the frame.
  var outcomes: [Told?]
  /// Failures of the frame's stages, in the order in which they happened.
  var failures: [StageFailure] = []

  init(entry: FrameEntry, timestamp: Timestamp, arrival: Int64, sinks: Int) {
    self.entry = entry
    self.timestamp = timestamp
    self.arrival = arrival
    isOpen = Array(repeating: false, count: sinks)
    outcomes = Array(repeating: nil, count: sinks)
  }

  /// Notes a delivery, with the facts that a results sink writes for its value.
  func note(_ delivery: LiveDelivery, discards: Bool) {
    switch delivery.content {
    case .ended(let fate, let node):
      outcomes[delivery.position] = Told(content: .ended(fate, node: node))
    case .value(let value?):
      outcomes[delivery.position] = Told(
        content: .facts(discards ? [] : value.facts),
        classNames: (value as? Detections)?.classNames ?? [],
        deliveredNanoseconds: delivery.nanoseconds)
    case .value(nil):
      outcomes[delivery.position] = Told(
        content: .facts([]), deliveredNanoseconds: delivery.nanoseconds, isComputed: false)
    }
  }

  /// All outcomes to report, sinks in rising order of their path.
  func result(sinkIDs: [String]) -> LiveResult {
    var result = LiveResult(
      frame: FinishedFrame(
        entry: entry, arrivalNanoseconds: arrival,
        result: FrameResult(id: entry.id, pts: entry.pts, outcomes: []), classNames: [],
        failures: failures, digests: []), deliveredNanoseconds: [])
    for (sink, told) in zip(sinkIDs, outcomes) {
      guard let told else { continue }
      result.frame.result.outcomes.append(SinkOutcome(sink: sink, content: told.content))
      result.frame.classNames.append(told.classNames)
      result.deliveredNanoseconds.append(told.deliveredNanoseconds)
      result.isComputed.append(told.isComputed)
    }
    return result
  }
}
