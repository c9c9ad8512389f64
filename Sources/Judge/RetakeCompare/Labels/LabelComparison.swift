/// The results of a golden and of a run, each scored against the labels of the session.
package struct LabelComparison: Hashable, Sendable {
  /// The file of the labels, relative to the project.
  package var file: String
  /// The sink whose results are scored.
  package var sink: String
  /// `nil` if there is no golden.
  package var golden: LabelScore?
  package var actual: LabelScore
  /// Images of the file that are proposed and not yet corrected; they are not scored.
  package var drafts: Int

  package init(
    file: String, sink: String, golden: LabelScore?, actual: LabelScore, drafts: Int
  ) {
    self.file = file
    self.sink = sink
    self.golden = golden
    self.actual = actual
    self.drafts = drafts
  }

  /// How the results changed since the golden; `nil` if there is no golden.
  package var change: LabelChange? { golden.map { actual.verdict(since: $0) } }
}
