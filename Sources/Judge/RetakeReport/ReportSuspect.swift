import RetakeGraph

/// Something besides the results that changed, such as an option of the pipeline or a library.
package struct ReportSuspect: Hashable, Sendable, Codable {
  /// The most suspects that are shown as text; the document has all of them.
  static let shownMax = 15

  /// `pipeline`, or `change` for everything else.
  package var kind: String
  package var text: String
  /// For a pipeline, the kind of change: `option`, `nodeAdded`, `queue` …
  package var change: String?
  /// For a pipeline, the place of the change: `motion.threshold`.
  package var place: String?
  package var golden: String?
  package var actual: String?

  package init(kind: String, text: String, golden: String? = nil, actual: String? = nil) {
    self.kind = kind
    self.text = text
    self.golden = golden
    self.actual = actual
  }

  init(_ change: PipelineChange) {
    self.init(
      // A change of the pipeline keeps its parts next to its sentence, for the page and for
      // scripts.
      kind: "pipeline", text: change.suspicion, golden: change.old, actual: change.new)
    self.change = change.kind.rawValue
    place = change.place
  }
}
