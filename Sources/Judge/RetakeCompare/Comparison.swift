import RetakeCore
package import RetakeGraph

/// The number of compared frames, by result.
package struct ComparisonCounts: Hashable, Sendable, Codable {
  package var same = 0
  package var withinTolerance = 0
  package var changed = 0
  /// Frames that only the golden has.
  package var missing = 0
  /// Frames that only the run has.
  package var inserted = 0
  /// Lines of facts on the golden's side that were compared.
  package var facts = 0
  /// Decision lines that were compared; a folded line counts as one.
  package var decisions = 0

  package init() {}

  /// Frames that have a partner.
  package var compared: Int { same + withinTolerance + changed }
}

/// A change that was marked as known.
package struct KnownChange: Hashable, Sendable, Codable {
  package var id: String
  /// Where it is discussed.
  package var url: String?

  package init(id: String, url: String? = nil) {
    self.id = id
    self.url = url
  }
}

/// The complete result of comparing one case with its golden.
package struct Comparison: Hashable, Sendable {
  /// Findings beyond this number are counted but not kept.
  package static let findingLimit = 10_000

  /// `session/case`.
  package var key: String
  package var verdict: Verdict
  /// Whether the golden marks the change as known.
  package var isExpected = false
  /// The marks with findings.
  package var known: [KnownChange] = []
  /// Whether the case is not comparable because another device computed its models, and for no
  /// other reason.
  package var isOtherDevice = false
  /// Why the case is missing, not comparable or errored, in words.
  package var reasons: [String] = []
  package var counts = ComparisonCounts()
  package var headroom: [ErrorHeadroom] = []
  package var budgets: [BudgetResult] = []
  /// `nil` if the session has no labels, or no frame was compared.
  package var labels: LabelComparison?
  /// In the order of the frames; at most `findingLimit`.
  package var findings: [Finding] = []
  /// The number of all findings.
  package var findingCount = 0
  /// Decisions that differ, in the order of virtual time, at most `findingLimit`. They include
  /// decisions that are not findings of their own, because the fate of their frame is already a
  /// finding.
  package var decisions: [Finding] = []
  /// The errors of all compared frames, for quantities with an error.
  package var errorCurves: [ErrorCurve] = []
  /// In the order of the frames: the first is the first divergence.
  package var rootCauses: [RootCause] = []
  /// Information that is not a finding.
  package var notes: [String] = []
  /// Changes of the pipeline, models or libraries that may explain a difference.
  package var suspects: [String] = []
  /// The changes in the pipeline's document, each with a line in `suspects`; empty if the document
  /// of one side was not stored.
  package var pipelineChanges: [PipelineChange] = []

  package init(key: String, verdict: Verdict, reasons: [String] = []) {
    self.key = key
    self.verdict = verdict
    self.reasons = reasons
  }

  /// The earliest (frame, stage) from which differences follow.
  package var firstDivergence: RootCause? { rootCauses.first }

  /// Whether no frame had a partner. Such a comparison never passes.
  package var comparedNothing: Bool { counts.compared == 0 }
}
