import RetakeCore
import RetakeRuntime

/// The digests of a whole run, step by step, so that another run can be compared with it while it
/// goes on.
final class RunTrace: RunObserver {
  private(set) var nodes: [RunNode] = []
  /// Of each decision line.
  private(set) var decisions: [Digest128] = []
  /// Of each frame's results.
  private(set) var results: [Digest128] = []
  private(set) var frames: [FrameID] = []
  /// Of each stage, by frame.
  private(set) var stages: [[NodeDigest]] = []

  var wantsDecisions: Bool { true }
  var wantsDigests: Bool { true }

  func began(nodes: [RunNode]) { self.nodes = nodes }

  func decided(_ line: DecisionLine) { decisions.append(Digest128(of: line.description)) }

  func finished(_ frame: FinishedFrame) {
    frames.append(frame.result.id)
    stages.append(frame.digests)
    results.append(Self.digest(of: frame.result))
  }

  /// The ids of the nodes that the stage digests are of, in their order.
  var digestedNodes: [String] {
    nodes.filter(\.role.isDigested).map(\.id)
  }

  /// Of the exact values, before they are rounded for a golden.
  static func digest(of result: FrameResult) -> Digest128 {
    var hasher = DigestHasher()
    for outcome in result.outcomes {
      hasher.append(outcome.sink)
      switch outcome.content {
      case .ended(let fate, let node):
        hasher.append(fate.word)
        hasher.append(fate.reason)
        hasher.append(node)
      case .facts(let facts):
        hasher.append(Int64(facts.count))
        for fact in facts { fact.digest(into: &hasher) }
      }
    }
    return hasher.finish()
  }
}

extension ResultFact {
  /// Appends the fact's exact content.
  fileprivate func digest(into hasher: inout DigestHasher) {
    switch self {
    case .detection(let detection):
      for value in [
        detection.box.x, detection.box.y, detection.box.width, detection.box.height,
        detection.score,
      ] { hasher.append(value) }
      hasher.append(Int64(detection.classIndex))
      hasher.append(Int64(detection.identity ?? -1))
      for item in detection.classes {
        hasher.append(item.label)
        hasher.append(item.score)
      }
    case .classification(let item):
      hasher.append(item.label)
      hasher.append(item.score)
    case .scalar(let name, let value):
      hasher.append(name)
      hasher.append(value)
    case .frame(let print): hasher.append(print.digest)
    case .tensor(_, let shape, let digest):
      for length in shape { hasher.append(Int64(length)) }
      hasher.append(digest)
    case .waveform(let waveform):
      hasher.append(waveform.name)
      for sample in waveform.samples { hasher.append(sample) }
    case .text(let name, let text):
      hasher.append(name)
      hasher.append(text)
    case .user(let kind, let digest):
      hasher.append(kind)
      hasher.append(digest)
    }
  }
}

/// Finds the first step at which two runs differ.
struct TraceComparison {
  let expected: RunTrace
  let actual: RunTrace

  /// Values before decisions: a decision that follows from a wrong value is not the engine's fault.
  var divergence: VerifyReport.Divergence? {
    valueDivergence ?? decisionDivergence ?? resultDivergence
  }

  private var valueDivergence: VerifyReport.Divergence? {
    let nodes = expected.digestedNodes
    for index in 0..<min(expected.frames.count, actual.frames.count)
    where expected.frames[index] == actual.frames[index] {
      for (node, (left, right)) in zip(expected.stages[index], actual.stages[index]).enumerated()
      where left != right && left != .notRun && right != .notRun {
        return VerifyReport.Divergence(
          kind: .value, frame: expected.frames[index], stage: nodes[node],
          message: "the stage '\(nodes[node])' gave another value for frame "
            + "\(expected.frames[index]) although its inputs are the same")
      }
    }
    return nil
  }

  private var decisionDivergence: VerifyReport.Divergence? {
    guard expected.decisions != actual.decisions else { return nil }
    let pairs = zip(expected.decisions, actual.decisions)
    let index =
      pairs.enumerated().first { $0.element.0 != $0.element.1 }?.offset
      ?? min(expected.decisions.count, actual.decisions.count)
    return VerifyReport.Divergence(
      kind: .decision, frame: nil, stage: nil,
      message: "decision \(index + 1) differs, of \(expected.decisions.count) and "
        + "\(actual.decisions.count)")
  }

  private var resultDivergence: VerifyReport.Divergence? {
    guard expected.results != actual.results else { return nil }
    let index =
      zip(expected.results, actual.results).enumerated()
      .first { $0.element.0 != $0.element.1 }?.offset
      ?? min(expected.results.count, actual.results.count)
    let frame = index < expected.frames.count ? expected.frames[index] : nil
    return VerifyReport.Divergence(
      kind: .result, frame: frame, stage: nil,
      message: "the results of frame \(frame?.description ?? "-") differ although all stages agree")
  }
}
