/// A node, and how its output compares with the golden's.
package struct ReportNode: Hashable, Sendable, Codable {
  package enum Status: String, Hashable, Sendable, Codable, CaseIterable {
    case equal
    /// The output differs although the inputs are equal.
    case rootCause
    /// The output differs, and so do the inputs.
    case downstream
    /// A stateful stage that received a differing input before.
    case tainted
    case notRun
    /// The case has no results that could be compared.
    case notCompared
    /// Only in the run.
    case added
    /// Only in the golden.
    case removed
  }

  package var id: String
  package var kind: String
  package var stateful: Bool
  package var status: Status

  package init(id: String, kind: String, stateful: Bool = false, status: Status = .equal) {
    self.id = id
    self.kind = kind
    self.stateful = stateful
    self.status = status
  }
}
