import RetakeCore

/// Finds the first place at which two runs differ. Digests are cumulative: once they differ, they
/// keep differing. A binary search therefore finds the place in a few steps.
struct TraceComparison {
  let expected: StoredTrace
  let actual: StoredTrace

  /// - Throws: Errors of the file system.
  func divergence() throws -> VerifyReport.Divergence? {
    guard var first = try firstDivergence() else { return nil }
    first.position = try first.frame.map(position)
    return first
  }

  /// A frame that no trace has comes last: the run had ended before it was settled.
  private func position(of frame: FrameID) throws -> Int {
    try expected.position(of: frame) ?? actual.position(of: frame)
      ?? max(expected.facts.frames, actual.facts.frames)
  }

  private func firstDivergence() throws -> VerifyReport.Divergence? {
    let decision = try firstDecision()
    guard let frame = try firstFrame() else { return decision.map(Self.divergence(of:)) }
    if let stage = frame.stage {
      // A stage whose value may follow from an earlier decision is not the cause; the decision is
      // named instead.
      let isFollower = decision.map { Self.comesFirst($0, frame: frame.id, stage: stage) } ?? false
      if !isFollower { return Self.divergence(of: stage, frame: frame.id, then: decision) }
    }
    if let decision { return Self.divergence(of: decision) }
    return frame.divergence
  }

  private func firstFrame() throws -> TracedDifference? {
    let count = min(expected.facts.frames, actual.facts.frames)
    let found = try Self.firstDifference(among: count) {
      try expected.digest(throughFrame: $0) != actual.digest(throughFrame: $0)
    }
    if let found {
      return TracedDifference(
        facts: expected.facts, expected: try expected.frame(found), actual: try actual.frame(found))
    }
    guard expected.facts.frames != actual.facts.frames else { return nil }
    let longer = expected.facts.frames > count ? expected : actual
    return TracedDifference(
      facts: expected.facts, expected: try longer.frame(count), actual: nil)
  }

  private func firstDecision() throws -> VerifyReport.DecisionDifference? {
    let count = min(expected.blockCount, actual.blockCount)
    let found = try Self.firstDifference(among: count) {
      try expected.digest(throughBlock: $0) != actual.digest(throughBlock: $0)
    }
    guard found != nil || expected.facts.decisions != actual.facts.decisions else { return nil }
    // If all common blocks are equal, the difference begins in the first block that only one run
    // has.
    let block = found ?? count
    let left = try block < expected.blockCount ? expected.lines(ofBlock: block) : []
    let right = try block < actual.blockCount ? actual.lines(ofBlock: block) : []
    // Bounded by the lines of one block.
    var line = 0
    while line < min(left.count, right.count), left[line] == right[line] { line += 1 }
    return VerifyReport.DecisionDifference(
      number: block * TraceFiles.linesPerBlock + line + 1,
      expected: line < left.count ? left[line] : nil,
      actual: line < right.count ? right[line] : nil)
  }

  /// The first index at which two cumulative digests differ.
  static func firstDifference(
    among count: Int, isDifferent: (Int) throws -> Bool
  ) rethrows -> Int? {
    // Each digest covers all earlier entries, so the last digest shows whether any entry differs.
    guard count > 0, try isDifferent(count - 1) else { return nil }
    var (low, high) = (0, count - 1)
    while low < high {
      let middle = (low + high) / 2
      if try isDifferent(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// Whether a decision may be the cause of a stage's different value. A stage with memory depends
  /// on which frames came before, a join also on its own parts, and every stage on decisions that
  /// concern no single frame, such as a swap.
  private static func comesFirst(
    _ decision: VerifyReport.DecisionDifference, frame: FrameID, stage: TraceFacts.Stage
  ) -> Bool {
    guard let decided = decision.frame else { return true }
    switch stage.context {
    case .nothing: return false
    case .earlierFrames:
      return decided.track != frame.track || decided.sequence < frame.sequence
    case .parts:
      return decided.track != frame.track || decided.sequence <= frame.sequence
    }
  }
}

extension TraceComparison {
  private static func divergence(
    of decision: VerifyReport.DecisionDifference
  ) -> VerifyReport.Divergence {
    VerifyReport.Divergence(
      kind: .decision, frame: decision.frame, stage: decision.node, decision: decision,
      message: "decision \(decision.number) differs: \(decision.text)")
  }

  private static func divergence(
    of stage: TraceFacts.Stage, frame: FrameID, then decision: VerifyReport.DecisionDifference?
  ) -> VerifyReport.Divergence {
    var message =
      "the stage '\(stage.id)' returned a different value for frame \(frame) although its inputs "
      + "are equal"
    if let decision {
      message += "; decision \(decision.number) differs with it: \(decision.text)"
    }
    return VerifyReport.Divergence(
      kind: .value, frame: frame, stage: stage.id, decision: decision, message: message,
      isProgram: stage.isProgram, isLoop: stage.isLoop)
  }
}

/// Two runs at the first frame at which they differ.
private struct TracedDifference {
  let facts: TraceFacts
  let expected: StoredTrace.FrameRecord
  /// `nil` if one run ended before this frame.
  let actual: StoredTrace.FrameRecord?

  var id: FrameID { expected.frame }

  /// The first stage that ran in both runs and returned different values, unless an earlier stage
  /// ran in only one of the runs.
  var stage: TraceFacts.Stage? {
    guard let actual, actual.frame == expected.frame, let index = stageIndex(actual) else {
      return nil
    }
    return [expected.stages[index], actual.stages[index]].contains(.zero)
      ? nil : facts.stages[index]
  }

  private func stageIndex(_ actual: StoredTrace.FrameRecord) -> Int? {
    facts.stages.indices.first { expected.stages[$0] != actual.stages[$0] }
  }

  /// The divergence when neither a value nor a decision explains it.
  var divergence: VerifyReport.Divergence {
    guard let actual, actual.frame == expected.frame else {
      return VerifyReport.Divergence(
        kind: .result, frame: id, stage: nil,
        message: "frame \(id) ends in one run only although all decisions agree")
    }
    if let index = stageIndex(actual) {
      let stage = facts.stages[index].id
      return VerifyReport.Divergence(
        kind: .result, frame: id, stage: stage,
        message: "the stage '\(stage)' ran for frame \(id) in one run only although all decisions "
          + "agree")
    }
    let sink = facts.sinks.indices.first { expected.sinks[$0] != actual.sinks[$0] }
      .map { facts.sinks[$0] }
    return VerifyReport.Divergence(
      kind: .result, frame: id, stage: sink,
      message: "the sink '\(sink ?? "-")' received a different value of frame \(id) although all "
        + "stages agree")
  }
}
