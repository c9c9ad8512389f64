import RetakeCore

/// The report as JUnit XML, in the form that GitLab and Jenkins read.
///
/// There is one test case per (session, case, check), never per frame. A failure is changed or
/// missing; an error is errored, not comparable or stale; skipped is expected. Names are unique,
/// and strings are truncated where GitLab would truncate them.
package struct JUnitReport {
  /// GitLab shows 80 lines of a failure.
  package static let linesMax = 79
  /// The most characters of one line.
  package static let lineLengthMax = 400

  private var usedNames: Set<String> = []

  /// The XML document, with a newline at the end.
  package static func render(_ document: ReportDocument) -> String {
    var report = JUnitReport()
    // An array, not a Set: the suites have the order of the run.
    var sessions: [String] = []
    for item in document.cases where sessions.last != item.session {
      if !sessions.contains(item.session) { sessions.append(item.session) }
    }
    var suites = sessions.map { session in
      report.suite(
        session, document.cases.filter { $0.session == session }, document.generatedAt)
    }
    // Errors without a case have a separate suite, or a run that never began would look empty.
    if !document.errors.isEmpty { suites.append(report.failure(document.errors)) }
    var total = Tally()
    for suite in suites { total.add(suite.tally) }
    return """
      <?xml version="1.0" encoding="UTF-8"?>
      <testsuites name="\(MarkupText.escaped(document.title))" \(total.totals)>
      \(suites.map { $0.text + "\n" }.joined())</testsuites>

      """
  }

  /// Seconds without an exponent, which JUnit readers do not accept.
  static func time(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds > 0 else { return "0" }
    return Wording.number((seconds * 1_000).rounded() / 1_000, places: 3)
  }

  private struct Tally {
    var tests = 0
    var failures = 0
    var errors = 0
    var skipped = 0
    var seconds = 0.0

    mutating func add(_ other: Tally) {
      tests += other.tests
      failures += other.failures
      errors += other.errors
      skipped += other.skipped
      seconds += other.seconds
    }

    /// The attributes of one suite.
    var attributes: String { "\(totals) skipped=\"\(skipped)\"" }

    /// The totals of all suites. Jenkins' schema has no `skipped` attribute here.
    var totals: String {
      "tests=\"\(tests)\" failures=\"\(failures)\" errors=\"\(errors)\" "
        + "time=\"\(JUnitReport.time(seconds))\""
    }
  }

  private mutating func suite(
    _ session: String, _ cases: [ReportCase], _ generatedAt: String?
  ) -> (text: String, tally: Tally) {
    var tally = Tally()
    let tests = cases.flatMap { item in testCases(item, &tally) }
    let stamp = generatedAt.map { " timestamp=\"\(MarkupText.escaped($0))\"" } ?? ""
    let name = MarkupText.escaped(session)
    return (
      "<testsuite name=\"\(name)\" \(tally.attributes)\(stamp)>\n"
        + tests.joined(separator: "\n") + "\n</testsuite>", tally
    )
  }

  private mutating func failure(_ errors: [ReportProblem]) -> (text: String, tally: Tally) {
    let tally = Tally(tests: errors.count, errors: errors.count)
    let tests = errors.map { error in
      let name = unique("retake", error.code)
      return "<testcase classname=\"retake\" name=\"\(MarkupText.escaped(name))\" time=\"0\">"
        + Self.element("error", type: error.code, error.message, Self.lines(error)) + "</testcase>"
    }
    return (
      "<testsuite name=\"retake\" \(tally.attributes)>\n" + tests.joined(separator: "\n")
        + "\n</testsuite>", tally
    )
  }

  private mutating func testCases(_ item: ReportCase, _ tally: inout Tally) -> [String] {
    let checks =
      item.checks.isEmpty ? [ReportCheck("results", item.verdict, item.headline)] : item.checks
    return checks.enumerated().map { index, check in
      let name = unique(item.session, "\(item.name) / \(check.name)")
      // A case runs once for all of its checks. With its time in each, the suite's total would be
      // wrong.
      let seconds = index == 0 ? item.run?.wallSeconds ?? 0 : 0
      tally.tests += 1
      tally.seconds += seconds
      let content = Self.outcome(item, check, &tally)
      let start =
        "<testcase classname=\"\(MarkupText.escaped(item.session))\" "
        + "name=\"\(MarkupText.escaped(name))\" time=\"\(JUnitReport.time(seconds))\""
      return content.isEmpty ? start + "/>" : start + ">\(content)</testcase>"
    }
  }

  private mutating func unique(_ group: String, _ name: String) -> String {
    var result = visible(name)
    var number = 2
    // U+0000 is never part of a visible string, so two pairs cannot have the same key.
    while !usedNames.insert("\(visible(group))\u{0}\(result)").inserted {
      result = "\(visible(name)) (\(number))"
      number += 1
    }
    return result
  }

  // MARK: - The outcome of one check

  private static func outcome(
    _ item: ReportCase, _ check: ReportCheck, _ tally: inout Tally
  ) -> String {
    let message = check.message.isEmpty ? item.headline : check.message
    switch check.verdict {
    case .passed: return ""
    // A known change does not fail the run, so it must not be a failure here either.
    case .changed where item.expected != nil:
      tally.skipped += 1
      let id = item.expected?.id ?? ""
      return "<skipped message=\"\(MarkupText.escaped("expected (\(id)): \(message)"))\"/>"
    case .changed, .missing:
      tally.failures += 1
      return element("failure", type: check.verdict.rawValue, message, lines(item))
    case .errored, .notComparable, .stale:
      tally.errors += 1
      return element(
        "error", type: item.error?.code ?? check.verdict.rawValue, message,
        item.error.map(lines) ?? lines(item))
    }
  }

  private static func element(
    _ name: String, type: String, _ message: String, _ lines: [String]
  ) -> String {
    let cut = lines.prefix(linesMax).map { $0.visible(limit: lineLengthMax) }
    return "<\(name) type=\"\(MarkupText.escaped(type))\" "
      + "message=\"\(MarkupText.escaped(message.visible(limit: lineLengthMax)))\">"
      + "\(MarkupText.escapedLines(cut))</\(name)>"
  }

  private static func lines(_ error: ReportProblem) -> [String] {
    [
      error.message, error.cause.map { "cause: \($0)" }, error.place.map { "at: \($0)" },
      error.advice, "code: \(error.code)",
    ].compactMap(\.self)
  }

  private static func lines(_ item: ReportCase) -> [String] {
    var lines = ["\(item.verdictWords): \(item.reason)"]
    for cause in item.rootCauses.prefix(5) {
      lines.append(cause.headline)
      lines += cause.commands.map { "  \($0.title): \($0.command)" }
    }
    lines += item.suspects.prefix(ReportSuspect.shownMax).map { "suspected: \($0.text)" }
    lines += item.commands.prefix(5).map { "\($0.title): \($0.command)" }
    // A line is for the number of omitted findings.
    let room = linesMax - lines.count - 1
    let shown = item.findings.items.prefix(max(0, room))
    lines += shown.map { finding in
      let frame = finding.frame.map { "frame \($0): " } ?? ""
      return "  \(frame)\(finding.message)"
    }
    let left = item.findings.total - shown.count
    if left > 0 { lines.append("… and \(Wording.count(left, "other finding"))") }
    return lines
  }
}
