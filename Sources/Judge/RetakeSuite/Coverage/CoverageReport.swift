/// Which decisions the cases of a suite make, and which they never make.
package struct CoverageReport: Hashable, Sendable, Codable {
  /// The first line of a decision.
  package struct Place: Hashable, Sendable, Codable {
    /// `session/case`.
    package var key: String
    /// `nil` for a decision about a node.
    package var frame: String?
    /// Virtual time; `nil` if the decision has no line in decisions.gold.
    package var nanoseconds: Int64?

    private enum CodingKeys: String, CodingKey {
      case key = "case", frame, nanoseconds
    }
  }

  package struct Row: Hashable, Sendable, Codable {
    package var node: String
    /// In the words of decision lines: `drop reason=queue`.
    package var decision: String
    package var count: Int
    /// `nil` if no case makes the decision.
    package var first: Place?
  }

  /// The cases of one pipeline.
  package struct Pipeline: Hashable, Sendable, Codable {
    /// The document, or `example:NAME`.
    package var pipeline: String
    /// `session/case`, in order.
    package var cases: [String]
    /// Whether a case simulates; in the mode every-frame time decides no frame.
    package var simulated: Bool
    /// In the order of the pipeline's nodes.
    package var rows: [Row]
  }

  package var v = 1
  /// In the order of their names.
  package var pipelines: [Pipeline]
  /// Selected cases without an accepted golden.
  package var missing: [String]

  /// The decisions that no case makes.
  package var never: [(pipeline: String, row: Row)] {
    pipelines.flatMap { part in part.rows.filter { $0.count == 0 }.map { (part.pipeline, $0) } }
  }
}
