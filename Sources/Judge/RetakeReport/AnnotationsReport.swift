import RetakeCore

/// The report as annotations of a GitHub workflow: lines that the runner reads from the output.
///
/// GitHub keeps ten annotations of each kind per step, so no more are written. The last annotation
/// contains the number of omitted annotations.
package enum AnnotationsReport {
  /// The most annotations of each kind.
  package static let perKindMax = 10
  /// The most characters of one message; GitHub truncates at 4 KB.
  private static let messageLengthMax = 1_000

  private enum Kind: String, CaseIterable {
    case error, warning, notice
  }

  /// Each annotation is a line, errors first; empty for a run in which all cases passed.
  package static func render(_ document: ReportDocument) -> String {
    let cases = ReportCase.worstFirst(document.cases)
    let problems = document.errors.map { (Kind.error, $0.code, $0.message) }
    let findings = cases.compactMap { item in
      kind(item).map { ($0, "\(item.verdictWords): \(item.title)", item.headline) }
    }
    return Kind.allCases.flatMap { kind in
      lines(kind, (problems + findings).filter { $0.0 == kind }.map { ($0.1, $0.2) })
    }.map { $0 + "\n" }.joined()
  }

  private static func kind(_ item: ReportCase) -> Kind? {
    // Asked first: a known change has the verdict changed too, and does not fail the run.
    if item.expected != nil { return .notice }
    switch item.verdict {
    case .passed: return nil
    case .changed, .errored, .notComparable: return .error
    case .missing, .stale: return .warning
    }
  }

  private static func lines(_ kind: Kind, _ items: [(title: String, text: String)]) -> [String] {
    // The last place is for the line with the count: GitHub would not show an eleventh annotation.
    let shown = items.count > perKindMax ? perKindMax - 1 : items.count
    var lines = items.prefix(shown).map { line(kind, $0.title, $0.text) }
    if shown < items.count {
      let left = Wording.count(items.count - shown, "other case")
      lines.append(line(kind, "and \(left)", "See the report's summary for all of them."))
    }
    return lines
  }

  private static func line(_ kind: Kind, _ title: String, _ text: String) -> String {
    "::\(kind.rawValue) title=\(property("retake: \(title)"))::\(data(text))"
  }

  /// The runner decodes `%` and reads lines; line ends were already made visible.
  private static func data(_ text: String) -> String {
    // Percent signs first, or the escapes of the line ends below would be escaped again.
    text.visible(limit: messageLengthMax).replacing("%", with: "%25")
      .replacing("\r", with: "%0D").replacing("\n", with: "%0A")
  }

  private static func property(_ text: String) -> String {
    // In a workflow command a comma begins the next property, and `::` ends the properties.
    data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }
}
