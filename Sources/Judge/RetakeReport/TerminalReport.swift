import RetakeCore

/// The report for a terminal or a log: first the problems, then the table, then the commands to
/// type next.
package struct TerminalReport {
  package enum Palette: Sendable {
    /// Without any escape sequences, as NO_COLOR requires.
    case plain
    case ansi
  }

  /// The most rows of the table. Passed cases beyond it are only counted; the others are always
  /// listed.
  package static let rowsMax = 60
  /// The most notes of passed cases that are listed; the others are counted.
  package static let passedNotesMax = 10
  /// The most root causes of one case that are shown.
  package static let rootCausesMax = 5
  /// The most findings of one root cause that are shown with their causes, and the most causes of
  /// each.
  package static let chainsMax = 2

  private let document: ReportDocument
  private let palette: Palette
  private var lines: [String] = []

  /// The report, with a newline at the end.
  package static func render(_ document: ReportDocument, palette: Palette) -> String {
    var report = TerminalReport(document: document, palette: palette)
    report.write()
    return report.lines.joined(separator: "\n") + "\n"
  }

  /// The report about one case that did not pass, for the message of another test runner: its root
  /// causes with the commands to type next, without colors.
  package static func attention(to item: ReportCase, in document: ReportDocument) -> String {
    var report = TerminalReport(document: document, palette: .plain)
    report.tell(item)
    return report.lines.joined(separator: "\n")
  }

  private init(document: ReportDocument, palette: Palette) {
    self.document = document
    self.palette = palette
  }

  private mutating func write() {
    let cases = ReportCase.inReadingOrder(document.cases)
    for item in cases where item.verdict != .passed { tell(item) }
    for error in document.errors { tell(error, under: painted("errored", .red)) }
    if !lines.isEmpty { lines.append("") }
    table(cases)
    for item in cases {
      guard let live = item.run?.live else { continue }
      lines.append("live  \(visible(item.title))  next to run \(live.run): \(live)")
    }
    for item in cases where item.verdict == .passed {
      guard let labels = item.labels else { continue }
      lines.append("labels  \(visible(item.title))  \(visible(labels.text))")
    }
    notesOfPassed(cases)
    if let cache = document.totals.cache { lines.append("cache  \(visible(cache.text))") }
    for note in document.notes { lines.append("note: \(visible(note))") }
    lines.append(summary)
    let verdict = "exit \(document.exit.code) (\(visible(document.exit.shownWord)))"
    lines.append(
      painted(verdict, document.exit.code == 0 ? .green : .red)
        + ": \(visible(document.exit.meaning))")
    guard !document.commands.isEmpty else { return }
    lines.append("next:")
    commands(document.commands, indent: "  ")
  }

  /// A case can pass with frames that fail, if they also fail in its golden. Without these notes,
  /// that would stay unseen.
  private mutating func notesOfPassed(_ cases: [ReportCase]) {
    let notes = cases.lazy.filter { $0.verdict == .passed }.flatMap { item in
      item.notes.map { "note: \(item.title): \($0)" }
    }
    for note in notes.prefix(Self.passedNotesMax) { lines.append(visible(note)) }
    let more = notes.count - Self.passedNotesMax
    if more > 0 { lines.append("and \(Wording.count(more, "more note")) in the report") }
  }

  private var summary: String { Self.summary(of: document) }

  /// The counts and the speed of a run, in one line.
  package static func summary(of document: ReportDocument) -> String {
    var parts = [
      document.counts.text, Wording.count(document.totals.cases, "case"),
      Wording.count(document.totals.frames, "frame") + " compared",
    ]
    if let speed = document.totals.framesPerSecond { parts.append(Wording.speed(speed)) }
    return parts.joined(separator: " · ")
  }

  // MARK: - One case

  private mutating func tell(_ item: ReportCase) {
    let word = painted(item.verdictWords, color(item))
    let start = "\(word)  \(painted(visible(item.title), .bold))  "
    if let error = item.error {
      tell(error, under: start.trimmingTrailingSpaces)
    } else if item.rootCauses.isEmpty {
      lines.append(start + visible(item.reason))
    } else {
      for (index, cause) in item.rootCauses.prefix(Self.rootCausesMax).enumerated() {
        let text = visible(cause.headline)
        lines.append(index == 0 ? start + text : "  also: \(text)")
        if let first = item.firstItem(of: cause) { lines.append("    \(visible(first))") }
        chains(of: cause, in: item)
        commands(cause.commands, indent: "    ")
      }
      let more = item.rootCauses.count - Self.rootCausesMax
      if more > 0 { lines.append("  and \(Wording.count(more, "other root cause"))") }
    }
    // A budget that was exceeded because of a root cause is one of its later differences, and not
    // in its headline.
    for budget in item.budgets where !budget.met {
      lines.append("    \(visible(Wording.overBudget(budget)))")
    }
    if let labels = item.labels { lines.append("    labels: \(visible(labels.text))") }
    if let mark = item.expected { lines.append("    known as \(visible(mark.id))") }
    for suspect in item.suspects { lines.append("    suspected: \(visible(suspect.text))") }
    for note in item.notes { lines.append("    note: \(visible(note))") }
    commands(item.commands, indent: "    ")
  }

  /// Decisions that differ, with the earlier decisions that they follow from. A decision about no
  /// frame is shown even if it follows from no other decision: the headline has no frame to find it
  /// by.
  private mutating func chains(of cause: ReportRootCause, in item: ReportCase) {
    let linked = item.findings.items.lazy.filter {
      $0.rootCause == cause.id && (!$0.because.isEmpty || $0.isDecisionAboutNoFrame)
    }
    for finding in linked.prefix(Self.chainsMax) {
      lines.append("    \(visible(finding.message))")
      for link in finding.because.prefix(Self.chainsMax) {
        lines.append("      because \(visible(link))")
      }
      let more = finding.because.count - Self.chainsMax
      if more > 0 { lines.append("      and \(Wording.count(more, "earlier one"))") }
    }
  }

  private mutating func tell(_ error: ReportProblem, under start: String) {
    var text = error.place.map { "\(visible($0)): " } ?? ""
    text += visible(error.message)
    if let cause = error.cause { text += " (\(visible(cause)))" }
    lines.append("\(start)  \(text) [\(visible(error.code))]")
    if let advice = error.advice { lines.append("    \(visible(advice))") }
  }

  private mutating func commands(_ commands: [ReportCommand], indent: String) {
    let width = commands.map { visible($0.title).count }.max() ?? 0
    for item in commands {
      let title = visible(item.title).padded(to: width)
      lines.append("\(indent)\(painted(title, .dim))  \(visible(item.command))")
    }
  }

  // MARK: - The table

  private mutating func table(_ cases: [ReportCase]) {
    guard !cases.isEmpty else { return }
    // In reading order the passed cases come last, so the prefix has all others.
    let shown = Array(cases.prefix { $0.verdict != .passed })
    // Other cases may be more than the rows, and `prefix` traps on a negative number.
    let room = max(0, Self.rowsMax - shown.count)
    let passed = cases.dropFirst(shown.count)
    let rows = (shown + passed.prefix(room)).map(Row.init)
    // At least as wide as the heads of the columns, `case` and `verdict`.
    let width = max(4, rows.map(\.title.count).max() ?? 0)
    let words = max(7, rows.map(\.verdict.count).max() ?? 0)
    let heads = ["compared", "same", "within", "changed", "tolerance"]
    let head = heads.map { $0.leftPadded(to: 11) }.joined()
    lines.append(
      painted("\("verdict".padded(to: words))  \("case".padded(to: width))\(head)", .dim))
    for row in rows {
      let cells = row.cells.map { $0.leftPadded(to: 11) }.joined()
      // Padded before it is colored, because the padding would count the codes as letters.
      let word = painted(row.verdict.padded(to: words), color(row.item))
      lines.append("\(word)  \(row.title.padded(to: width))\(cells)")
    }
    let folded = passed.count - min(room, passed.count)
    if folded > 0 { lines.append("and \(Wording.grouped(folded)) more passed") }
    lines.append("")
  }

  private struct Row {
    var item: ReportCase
    var verdict: String
    var title: String
    var cells: [String]

    init(_ item: ReportCase) {
      self.item = item
      verdict = item.verdictWords
      title = item.title.visible(limit: 60)
      let counts = [
        item.counts.compared, item.counts.same, item.counts.withinTolerance, item.counts.changed,
      ]
      cells = counts.map(Wording.grouped) + [Wording.tolerance(of: item) ?? "-"]
    }
  }

  // MARK: - Color

  private enum Paint { case red, yellow, green, bold, dim }

  private func color(_ item: ReportCase) -> Paint {
    switch item.verdict {
    case .passed: .green
    case .changed: item.expected == nil ? .red : .yellow
    case .errored: .red
    case .missing, .stale, .notComparable: .yellow
    }
  }

  private func painted(_ text: String, _ paint: Paint) -> String {
    guard palette == .ansi else { return text }
    // The parameters of "select graphic rendition" in ECMA-48.
    let codes =
      switch paint {
      case .red: "31;1"
      case .yellow: "33"
      case .green: "32"
      case .bold: "1"
      case .dim: "2"
      }
    // `visibleLines` lets only known codes act on a terminal, so a new code has to be allowed
    // there.
    return "\u{1B}[\(codes)m\(text)\u{1B}[0m"
  }
}

extension ReportFinding {
  fileprivate var isDecisionAboutNoFrame: Bool {
    frame == nil && sink != nil && kind.hasPrefix("decision")
  }
}

extension String {
  fileprivate var trimmingTrailingSpaces: String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
