package import RetakeCompare

/// The root causes of a pending golden, divided into the chosen root causes and the others.
package struct GoldenSplit {
  package let golden: GoldenFolder
  package let pending: GoldenFolder
  /// The comparison with all findings.
  package let comparison: Comparison
  private let isChosen: [Bool]

  /// - Parameter isLocked: Whether the caller has locked the golden's folder.
  /// - Throws: An error that prevents the comparison; `GoldenError.indivisible`, `inseparable`.
  init(
    golden: GoldenFolder, pending: GoldenFolder, options: GoldenComparator.Options,
    isLocked: Bool, _ choose: (RootCause) -> Bool
  ) throws {
    guard pending.exists else { throw GoldenError.nothingPending(folder: pending.url.path) }
    var options = options
    // The parts are made from the findings, so all findings are needed.
    options.findingLimit = .max
    let comparator = GoldenComparator(golden: golden, actual: pending, options: options)
    // A second lock on the same folder through another descriptor would wait for the first lock,
    // also within one process (`man 2 flock`).
    comparison =
      isLocked ? try comparator.compareLocked(pending.manifest()) : try comparator.compare()
    isChosen = comparison.rootCauses.map(choose)
    (self.golden, self.pending) = (golden, pending)
    guard comparison.verdict == .changed else {
      throw GoldenError.indivisible(
        folder: golden.url.path,
        why: comparison.reasons.first ?? "it does not differ from the golden")
    }
    // Accepting all root causes, or no root cause, is always possible; only a real division can
    // separate results that belong together.
    guard !chosen.isEmpty, !left.isEmpty else { return }
    try checkParts()
  }

  package var chosen: [RootCause] { rootCauses(true) }
  package var left: [RootCause] { rootCauses(false) }

  /// Frames with a finding of a chosen root cause.
  package var frames: Int {
    Set(findings(true).compactMap(\.frame)).count
  }

  func findings(_ wanted: Bool) -> [Finding] {
    comparison.findings.filter { isChosen($0) == wanted }
  }

  /// Whether the chosen part includes timing. Decisions, the fates of frames and the set of frames
  /// belong together, so they all come from the same side.
  var takesTiming: Bool { findings(true).contains { $0.kind.isTiming } }

  private func isChosen(_ finding: Finding) -> Bool {
    finding.root.map { isChosen[$0] } ?? false
  }

  private func rootCauses(_ wanted: Bool) -> [RootCause] {
    zip(comparison.rootCauses, isChosen).filter { $0.1 == wanted }.map(\.0)
  }

  private func checkParts() throws {
    // The header of a results file names all sinks and classes, so it is of one side or the other.
    if comparison.findings.contains(where: { $0.kind.isStructural }) {
      throw inseparable("sinks or classes changed; root causes cannot be accepted one by one") {
        _ in true
      }
    }
    if takesTiming, findings(false).contains(where: { $0.kind.isTiming }) {
      throw inseparable("decisions can only be accepted together") { $0.kind.isTiming }
    }
  }

  /// The error that names the root causes that were not chosen, for the findings in question.
  private func inseparable(_ why: String, _ isMeant: (Finding) -> Bool) -> GoldenError {
    let indices = Set(comparison.findings.filter { isMeant($0) && !isChosen($0) }.map(\.root))
    // By index and not from the Set, so that the message has the report's order.
    let others = comparison.rootCauses.indices.filter { indices.contains($0) }
    return .inseparable(
      folder: golden.url.path, why: why, others: others.map { comparison.rootCauses[$0].id })
  }
}

extension Finding.Kind {
  fileprivate var isTiming: Bool {
    switch self {
    case .frameLost, .frameInserted, .fateChanged, .decisionAdded, .decisionRemoved,
      .decisionMoved, .decisionChanged, .decisionsDiffer:
      true
    default: false
    }
  }

  fileprivate var isStructural: Bool {
    switch self {
    case .sinkAdded, .sinkRemoved, .classesChanged: true
    default: false
    }
  }
}
