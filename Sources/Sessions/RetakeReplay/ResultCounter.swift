import RetakeCore
import RetakeRuntime

/// Counts the results of a run, by sink and kind of result.
final class ResultCounter: RunObserver {
  private var counts: [RunSummary.Found]

  /// - Parameter sinks: The sinks that write results, in order.
  init(sinks: [ResultHeader.Sink]) {
    counts = sinks.map { RunSummary.Found(sink: $0.path) }
  }

  func finished(_ frame: FinishedFrame) {
    for outcome in frame.result.outcomes {
      guard case .facts(let facts) = outcome.content,
        let place = counts.firstIndex(where: { $0.sink == outcome.sink })
      else { continue }
      counts[place].delivered += 1
      var kinds: Set<String> = []
      for fact in facts {
        counts[place].results[fact.kindName, default: 0] += 1
        kinds.insert(fact.kindName)
      }
      // The order of the Set has no effect: each kind has its own counter.
      for kind in kinds { counts[place].frames[kind, default: 0] += 1 }
    }
  }

  func finish() -> [RunSummary.Found] { counts }
}

extension ResultFact {
  /// The name of the kind in a result line.
  fileprivate var kindName: String {
    switch self {
    case .detection: "detections"
    case .classification: "labels"
    case .scalar: "scalars"
    case .frame: "pictures"
    case .tensor: "tensors"
    case .waveform: "waveforms"
    case .text: "texts"
    case .user: "values"
    case .observation: "observations"
    }
  }
}
