package import RetakeCompare
package import RetakeCore

extension ReportCase {
  /// A case from a comparison, in the words of the report.
  ///
  /// The caller adds ledgers, digests, images, commands and the run.
  /// - Parameters:
  ///   - graph: The pipeline. Each root cause colors it differently.
  ///   - tracks: The tracks that the case reads. Each gets a timeline of its findings.
  ///   - classes: The names by class index, for the labels of boxes.
  ///   - place: Maps a sink's boxes to positions in the frames.
  package init(
    _ comparison: Comparison, session: String, name: String, pipeline: String, mode: String,
    graph: ReportGraph? = nil, tracks: [ReportTrack] = [], classes: [String] = [],
    place: (_ box: ReportBox, _ sink: String?, _ frame: FrameID?) -> ReportBox? = { box, _, _ in box
    }
  ) {
    self.init(
      session: session, name: name, pipeline: pipeline, mode: mode,
      verdict: comparison.verdict, reason: comparison.reason)
    if comparison.isExpected {
      expected = KnownChange(
        id: comparison.known.map(\.id).joined(separator: ", "),
        url: comparison.known.compactMap(\.url).first)
    }
    let counted = comparison.counts
    counts = ComparedCounts(
      compared: counted.compared, same: counted.same, withinTolerance: counted.withinTolerance,
      changed: counted.changed)
    headroom = comparison.headroom.map(Headroom.init)
    budgets = comparison.budgets.map(ReportBudget.init)
    labels = comparison.labels.map(ReportLabels.init)
    findings = Excerpt(
      comparison.findings.map {
        ReportFinding($0, rootCauses: comparison.rootCauses, classes: classes, place: place)
      },
      total: comparison.findingCount)
    rootCauses = comparison.rootCauses.enumerated().map { index, root in
      ReportRootCause(
        root, findings: comparison.findings.filter { $0.root == index }, graph: graph)
    }
    self.graph = graph
    // No frame was compared. A node's default status is equal, and the page would show it for each
    // node.
    if [.errored, .missing, .notComparable].contains(comparison.verdict) {
      for index in self.graph?.nodes.indices ?? 0..<0 {
        self.graph?.nodes[index].status = .notCompared
      }
    }
    self.tracks = tracks
    timelines = tracks.map {
      ReportTimeline($0, findings: comparison.findings, errors: comparison.errorCurves)
    }
    // The list also contains decisions that no finding repeats. If it is empty, the findings are
    // used.
    let decided = comparison.decisions
    decisions = DecisionDifferences(decided.isEmpty ? comparison.findings : decided)
    // The comparison decides the order and the number of suspects, as sentences. A change of the
    // pipeline is found again by its sentence, because the page also shows its place and values.
    suspects = comparison.suspects.map { text in
      comparison.pipelineChanges.first { $0.suspicion == text }.map { ReportSuspect($0) }
        ?? ReportSuspect(kind: "change", text: text)
    }
    notes = comparison.notes + (labels?.notes ?? [])
    checks = ReportCheck.all(comparison)
  }
}

extension Comparison {
  /// The reasons of the comparison, or a summary of the counts.
  var reason: String {
    if !reasons.isEmpty { return reasons.joined(separator: "; ") }
    let frames = Wording.count(counts.compared, "frame") + " compared"
    guard verdict == .changed else {
      let within = counts.withinTolerance
      guard within > 0 else { return "\(frames), all the same" }
      return "\(frames), \(Wording.grouped(within)) \(Wording.within(headroom.map(\.largest)))"
    }
    let causes = Wording.count(rootCauses.count, "root cause")
    return "\(frames), \(Wording.grouped(counts.changed)) changed: "
      + "\(Wording.count(findingCount, "finding")) from \(causes)"
  }
}

extension ReportCheck {
  /// Results, decisions and budgets, each with the worst finding in it.
  static func all(_ comparison: Comparison) -> [ReportCheck] {
    let verdict = comparison.verdict
    // No frame was compared. Without findings the checks below would all be reported as passed.
    guard verdict == .passed || verdict == .changed else {
      return [ReportCheck("results", verdict, comparison.reason)]
    }
    let areas = Dictionary(grouping: comparison.findings, by: \.kind.area)
    var checks = ["results", "decisions"]
    if !comparison.budgets.isEmpty || areas["budgets"] != nil { checks.append("budgets") }
    // In the order of the names: the Dictionary is only looked up.
    return checks.map { name in
      let found = areas[name] ?? []
      guard let first = found.first else { return ReportCheck(name, .passed) }
      let more = found.count > 1 ? "; \(Wording.count(found.count, "finding"))" : ""
      return ReportCheck(name, .changed, first.message + more)
    }
  }
}

extension Finding.Kind {
  var area: String {
    switch self {
    case .decisionAdded, .decisionRemoved, .decisionMoved, .decisionChanged, .decisionsDiffer:
      "decisions"
    case .budget: "budgets"
    default: "results"
    }
  }

}

extension Finding {
  /// The unit of magnitudes in the report, and the factor that converts a magnitude to it.
  var unit: (name: String?, factor: Double) {
    switch kind {
    case .boxMoved, .pointMoved: ("px", 1)
    case .decisionMoved, .timeChanged: ("ms", 1e-6)
    // Only latency budgets belong to a sink.
    case .budget where node != nil: ("ms", 1e-6)
    default: (nil, 1)
    }
  }
}

extension Headroom {
  init(_ row: ErrorHeadroom) {
    self.init(
      // No number: the largest error is infinite. NaN has no share of the allowance, and counts as
      // over.
      measure: "\(row.sink).\(row.quantity)", largest: row.largest ?? .nan, allowed: row.allowed,
      unit: row.quantity == "position" ? "px" : nil, frame: row.frame)
  }
}

extension ReportBudget {
  init(_ result: BudgetResult) {
    // Milliseconds, and the unit of a metric.
    let divisor: Double = result.unit == .count ? 1 : 1_000_000
    self.init(
      name: result.name, limit: Double(result.allowed) / divisor,
      actual: Double(result.spent) / divisor, unit: result.unit == .nanoseconds ? "ms" : nil,
      met: result.isMet)
    if result.isMinimum { isMinimum = true }
  }
}
