import RetakeCore

/// One pair of frames.
extension ResultComparator {
  mutating func compare(_ golden: ResultFrame, _ actual: ResultFrame) {
    // Outcomes name their sink by its index in the header of their own run.
    if golden == actual && blocksAreComparable {
      for outcome in golden.outcomes { sinks[outcome.sink].noteEqual(outcome.lines) }
      counts.same += 1
      return
    }
    var findings = timeFindings(golden, actual)
    var isWithin = false
    var holdsBoxes = false
    var fates: [Finding] = []
    for outcome in golden.outcomes {
      guard let partner = sinkPairs[outcome.sink],
        let other = actual.outcomes.first(where: { $0.sink == partner })
      else { continue }
      if outcome.lines == other.lines {
        sinks[outcome.sink].noteEqual(outcome.lines)
        continue
      }
      if outcome.ended != nil || other.ended != nil {
        if let finding = fateFinding(golden, outcome, other) { fates.append(finding) }
        continue
      }
      let sink = outcome.sink
      let differences = sinks[sink].compare(
        golden: outcome.lines, actual: other.lines, frame: golden.id, actualFrame: actual.id)
      // The lines differ, and no rule objects.
      isWithin = isWithin || differences.isEmpty
      for difference in differences {
        let admitted = admit(finding(difference, golden, sinks[sink].sink), sink: sink)
        holdsBoxes = holdsBoxes || admitted.isEmpty
        findings += admitted
      }
    }
    findings += Self.merged(fates)
    if !fates.isEmpty { framesWithOtherFate.insert(golden.id) }
    for finding in findings { log.add(finding) }
    if !findings.isEmpty {
      counts.changed += 1
    } else if isWithin || holdsBoxes {
      counts.withinTolerance += 1
      if holdsBoxes { framesWithHeldBoxes.insert(golden.id) }
    } else {
      counts.same += 1
    }
  }

  private func timeFindings(_ golden: ResultFrame, _ actual: ResultFrame) -> [Finding] {
    if let actualTimes {
      return elapsedFindings(golden, time(of: golden), actualTimes.time(of: actual))
    }
    guard golden.pts != actual.pts else { return [] }
    let times = [golden.pts, actual.pts].map { $0.map(String.init) ?? "-" }
    return [
      Finding(
        .timeChanged, frame: golden.id, time: time(of: golden), golden: times[0],
        actual: times[1], message: "the presentation time is \(times[1]) instead of \(times[0])")
    ]
  }

  private func elapsedFindings(
    _ frame: ResultFrame, _ golden: Int64?, _ actual: Int64?
  ) -> [Finding] {
    guard golden != actual else { return [] }
    let times = [golden, actual].map {
      $0.map { "\($0) ns after the run's start" } ?? "without a time"
    }
    return [
      Finding(
        .timeChanged, frame: frame.id, time: golden, golden: times[0], actual: times[1],
        message: "the frame comes \(times[1]) instead of \(times[0])")
    ]
  }

  private func finding(
    _ difference: FrameComparator.Difference, _ frame: ResultFrame, _ sink: String
  ) -> Finding {
    Finding(
      difference.kind, frame: frame.id, time: time(of: frame), node: sink,
      golden: difference.golden, actual: difference.actual, magnitude: difference.magnitude,
      allowed: difference.allowed, message: difference.message)
  }

  /// Boxes without a partner become findings only when there are more than the rule allows; then
  /// all of them do.
  private mutating func admit(_ finding: Finding, sink: Int) -> [Finding] {
    guard finding.kind == .boxAppeared || finding.kind == .boxDisappeared else { return [finding] }
    var findings = unmatched[sink].add(finding)
    for earlier in findings where earlier.frame != finding.frame {
      // Only a frame without another finding was counted as within tolerance, and only the first
      // sink that releases its boxes changes that.
      if let frame = earlier.frame, framesWithHeldBoxes.remove(frame) != nil {
        counts.withinTolerance -= 1
        counts.changed += 1
      }
      log.add(earlier)
    }
    findings.removeAll { $0.frame != finding.frame }
    return findings
  }

  private func fateFinding(
    _ frame: ResultFrame, _ golden: ResultFrame.Outcome, _ actual: ResultFrame.Outcome
  ) -> Finding? {
    func words(_ outcome: ResultFrame.Outcome) -> String {
      guard let (fate, node) = outcome.ended else { return "delivered" }
      let reason = fate.reason == "-" ? "" : " (\(fate.reason))"
      return "\(fate.word)\(reason) at \(node)"
    }
    let texts = [words(golden), words(actual)]
    guard texts[0] != texts[1] else { return nil }
    var finding = Finding(
      .fateChanged, frame: frame.id, time: time(of: frame),
      node: actual.ended?.node ?? golden.ended?.node, golden: texts[0], actual: texts[1],
      message: "frame \(frame.id): \(texts[1]), golden: \(texts[0])")
    finding.because = chains[frame.id] ?? []
    return finding
  }

  /// The same end at several sinks is one finding.
  private static func merged(_ fates: [Finding]) -> [Finding] {
    var merged: [Finding] = []
    for fate in fates where !merged.contains(fate) { merged.append(fate) }
    return merged
  }
}
