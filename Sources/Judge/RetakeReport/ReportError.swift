package import RetakeCore

/// Errors of reports themselves.
package struct ReportError: FactualError {
  package let facts: ErrorFacts

  package init(facts: ErrorFacts) { self.facts = facts }

  package static func unreadable(reason: String) -> Self {
    Self(
      "report.document.unreadable", "this is not a report document", cause: reason,
      advice: "Make the report again with retake test")
  }

  package static func newerVersion(_ version: Int) -> Self {
    Self(
      "report.document.newerVersion",
      "the report has version \(version), and this retake reads version 1",
      advice: "Update retake, or make the report again with this one")
  }

  package static func notWritten(file: String, reason: String) -> Self {
    Self(
      "report.folder.notWritten", "the report could not be written", cause: reason, at: file,
      advice: Wording.wayToWrite(after: reason, elsewhere: "choose another folder: --report DIR"))
  }

}
