public import RetakeCore

/// The outputs of a forEach's body for the detections of a frame.
public struct Items: PipelineValue {
  /// The outcome of the body for one detection.
  public enum Outcome: Sendable {
    /// The output of the body's last stage.
    case value(any PipelineValue)
    /// The item failed with this code. It keeps its place in the list.
    case failed(code: String)
  }

  /// The detections that entered the forEach, unchanged and in their order.
  public var detections: Detections
  /// One for each detection, in the same order.
  public var outcomes: [Outcome]

  /// The process ends unless there is one outcome for each detection.
  package init(detections: Detections, outcomes: [Outcome]) {
    requirement(detections.items.count == outcomes.count, "each detection has an outcome")
    self.detections = detections
    self.outcomes = outcomes
  }

  /// `items`.
  public static var valueKind: ValueKind { .items }

  /// Appends the detections, then the outcome of each item in order.
  public func digest(into hasher: inout DigestHasher) {
    detections.digest(into: &hasher)
    for outcome in outcomes {
      switch outcome {
      case .value(let value):
        hasher.append(Int64(1))
        value.digest(into: &hasher)
      case .failed(let code):
        hasher.append(Int64(0))
        hasher.append(code)
      }
    }
  }

  /// The detections, then the facts of each of them. Names of numbers and strings begin with the
  /// index of the detection: `0.mean`.
  public var facts: [ResultFact] {
    var facts = detections.facts
    for (index, outcome) in outcomes.enumerated() {
      switch outcome {
      case .value(let value): facts += value.facts.map { $0.numbered(index) }
      case .failed(let code): facts.append(.text(name: "\(index).failed", text: code))
      }
    }
    return facts
  }
}

extension ResultFact {
  fileprivate func numbered(_ index: Int) -> ResultFact {
    switch self {
    case .scalar(let name, let value): return .scalar(name: "\(index).\(name)", value: value)
    case .text(let name, let text): return .text(name: "\(index).\(name)", text: text)
    case .user(let kind, let digest): return .user(kind: "\(index).\(kind)", digest: digest)
    // A C line is about the frame or about one of its D lines, so an item's label is written as a
    // string.
    case .classification(let item):
      return .text(name: "\(index).\(item.label)", text: "\(item.score)")
    case .observation(var item):
      item.label = "\(index).\(item.label)"
      return .observation(item)
    case .detection, .frame, .tensor, .waveform: return self
    }
  }
}
