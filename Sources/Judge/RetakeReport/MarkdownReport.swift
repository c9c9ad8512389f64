import RetakeCore

/// The report as Markdown for a comment on a pull request or a step summary, below the size that
/// GitHub accepts. The worst differences come first; possible causes, notes and the table of cases
/// are collapsed.
package struct MarkdownReport {
  /// UTF-8 bytes; a GitHub comment has at most 65,536 characters.
  package static let bytesMax = 60_000
  /// The first line. A job finds its earlier comment by it; readers do not see it.
  package static let marker = "<!-- retake report -->"

  /// The Markdown, with a newline at the end. If a part is omitted, the last line says so.
  package static func render(_ document: ReportDocument) -> String {
    // 200 bytes are for the last line, which contains the number of omitted parts.
    var page = Page(room: bytesMax - 200)
    page.add(head(document))
    let cases = ReportCase.worstFirst(document.cases)
    for error in document.errors { page.add(problem(error)) }
    for item in cases where item.verdict != .passed { page.add(section(item)) }
    page.addTable(
      ["Verdict", "Case", "Compared", "Same", "Within", "Changed", "Tolerance used"], cases.map(row)
    )
    page.add(notesOfPassed(cases))
    page.add(foot(document))
    return page.finished
  }

  private struct Page {
    var text = ""
    var room: Int
    var leftOut = 0

    mutating func add(_ block: String) {
      guard !block.isEmpty else { return }
      // After the first block that does not fit, no other block is added, so the summary is a
      // beginning without gaps.
      guard leftOut == 0, text.utf8.count + block.utf8.count + 1 <= room else {
        leftOut += 1
        return
      }
      text += text.isEmpty ? block : "\n\(block)"
    }

    mutating func addTable(_ heads: [String], _ rows: [String]) {
      guard let first = rows.first else { return }
      let rule = heads.indices.map { $0 < 2 ? "---" : "--:" }.joined(separator: " | ")
      let title = Wording.count(rows.count, "case")
      let start =
        MarkdownReport.detailsStart(title) + "| \(heads.joined(separator: " | ")) |\n| \(rule) |\n"
      // The end of the collapsed part must fit, or it would contain the rest of the page.
      let room = room - MarkdownReport.detailsEnd.utf8.count
      // A head alone would be an empty table.
      guard leftOut == 0, text.utf8.count + start.utf8.count + first.utf8.count <= room else {
        leftOut += rows.count
        return
      }
      text += start
      for row in rows {
        if leftOut == 0, text.utf8.count + row.utf8.count <= room {
          text += row
        } else {
          leftOut += 1
        }
      }
      text += MarkdownReport.detailsEnd
    }

    var finished: String {
      guard leftOut > 0 else { return text }
      let parts = Wording.count(leftOut, "part was", plural: "parts were")
      return text + "\n_\(parts) left out to keep this below 60 KB; the HTML report has all._\n"
    }
  }

  // MARK: - Blocks

  private static func head(_ document: ReportDocument) -> String {
    var parts = [
      document.counts.text, Wording.count(document.totals.frames, "frame") + " compared",
    ]
    if let speed = document.totals.framesPerSecond { parts.append(Wording.speed(speed)) }
    return """
      \(marker)
      ## \(mark(document.exit.code == 0)) \(prose(document.title)): \(prose(document.exit.shownWord))

      \(prose(document.exit.meaning)) Exit code \(document.exit.code). \
      \(parts.joined(separator: " · ")).

      """
  }

  private static func mark(_ passed: Bool) -> String { passed ? "✅" : "❌" }

  private static func problem(_ error: ReportProblem) -> String {
    let advice = error.advice.map { " \(prose($0))" } ?? ""
    let place = error.place.map { "\(code($0)): " } ?? ""
    return "**errored** \(place)\(prose(error.message)) (\(code(error.code))).\(advice)\n"
  }

  private static func section(_ item: ReportCase) -> String {
    var text = "### \(item.verdictWords): \(code(item.title))\n\n"
    if let error = item.error { text += problem(error) }
    if item.rootCauses.isEmpty, item.error == nil { text += "\(prose(item.reason))\n" }
    for cause in item.rootCauses.prefix(5) { text += rootCause(cause, in: item) }
    let more = item.rootCauses.count - 5
    if more > 0 { text += "- and \(Wording.count(more, "other root cause"))\n" }
    for budget in item.budgets where !budget.met {
      text += "- \(prose(Wording.overBudget(budget)))\n"
    }
    if let labels = item.labels { text += "- labels: \(prose(labels.text))\n" }
    if let mark = item.expected { text += "- known as \(code(mark.id))\n" }
    return text + commands(item.commands.filter { !$0.replays }) + details(item)
  }

  /// The possible causes, the notes and the commands to look closer, collapsed.
  private static func details(_ item: ReportCase) -> String {
    var text = ""
    for suspect in item.suspects.prefix(ReportSuspect.shownMax) {
      text += "- suspected: \(prose(suspect.text))\n"
    }
    for note in item.notes { text += "- note: \(prose(note))\n" }
    var replays: [ReportCommand] = []
    // The root causes of a case are seen in the same run.
    for command in item.rootCauses.flatMap(\.commands) + item.commands
    where command.replays && !replays.contains(command) { replays.append(command) }
    text += commands(replays)
    return text.isEmpty ? "" : detailsStart("Possible causes and notes") + text + detailsEnd
  }

  /// The beginning of a collapsed part. The empty line after it makes its content Markdown again
  /// (CommonMark 4.6).
  private static func detailsStart(_ title: String) -> String {
    "\n<details><summary>\(title)</summary>\n\n"
  }

  private static let detailsEnd = "\n</details>\n"

  private static func rootCause(_ cause: ReportRootCause, in item: ReportCase) -> String {
    let frame = cause.frame.map { " at frame **\($0)**" } ?? ""
    let time = cause.timeNanoseconds.map { " (t = \(Wording.seconds($0)))" } ?? ""
    let stage = cause.stage.map { ", stage \(code($0))" } ?? ""
    return "- First divergence\(frame)\(time)\(stage): \(prose(cause.why)); "
      + "\(prose(cause.weight))\n" + (item.worstFinding(of: cause).map(worst) ?? "")
      + commands(cause.commands.filter { !$0.replays })
  }

  private static func worst(_ finding: ReportFinding) -> String {
    let frame = finding.frame.map { " at frame **\($0)**" } ?? ""
    let sink = finding.sink.map { ", \(code($0))" } ?? ""
    let excess = ReportSeverity(finding).excess
    let times = excess.isFinite ? ", \(Wording.number(excess, places: 1)) × the allowed error" : ""
    return "  - worst\(frame)\(sink): \(prose(finding.message))\(times)\n"
  }

  private static func commands(_ commands: [ReportCommand]) -> String {
    guard !commands.isEmpty else { return "" }
    let lines = commands.map { "# \(visible($0.title))\n\(visible($0.command))" }
    let text = lines.joined(separator: "\n")
    // A code block ends at a fence at least as long as its first (CommonMark 4.5), so a command
    // with backticks needs a longer one.
    let fence = String(repeating: "`", count: max(3, longestTicks(text) + 1))
    return "\n\(fence)sh\n\(text)\n\(fence)\n"
  }

  private static func row(_ item: ReportCase) -> String {
    let counts = [
      item.counts.compared, item.counts.same, item.counts.withinTolerance, item.counts.changed,
    ].map(Wording.grouped)
    let cells =
      // GitHub splits a row into cells before it reads code spans, so a pipe needs its escape in
      // them too.
      [item.verdictWords, code(item.title.visible(limit: 120)).replacing("|", with: "\\|")]
      + counts + [Wording.tolerance(of: item) ?? "–"]
    return "| \(cells.joined(separator: " | ")) |\n"
  }

  private static func notesOfPassed(_ cases: [ReportCase]) -> String {
    let notes = cases.lazy.filter { $0.verdict == .passed }.flatMap { item in
      item.notes.map { "- \(code(item.title)): \(prose($0))\n" }
    }
    let more = notes.count - TerminalReport.passedNotesMax
    return notes.prefix(TerminalReport.passedNotesMax).joined()
      + (more > 0 ? "- and \(Wording.count(more, "more note"))\n" : "")
  }

  private static func foot(_ document: ReportDocument) -> String {
    var text = document.notes.map { "\n> \(prose($0))\n" }.joined()
    if !document.commands.isEmpty { text += "\nNext:\n\(commands(document.commands))" }
    return text
  }

  // MARK: - Escapes

  /// Text that may contain labels from any source. The result contains no markup, link or mention.
  static func prose(_ text: String) -> String {
    var result = ""
    for scalar in text.visible(limit: 2000).unicodeScalars {
      switch scalar {
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "&": result += "&amp;"
      case "\\", "`", "*", "_", "[", "]", "(", ")", "#", "|", "!", "~", "$", "{", "}":
        result += "\\\(scalar)"
      // GitHub looks for mentions in the rendered text, in which a backslash has left no trace.
      case "@": result += "@\u{200B}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result.replacing("://", with: ":\u{200B}//").replacing("www.", with: "www\u{200B}.")
  }

  /// A code span that its content cannot end.
  static func code(_ text: String) -> String {
    let content = text.visible(limit: 2000)
    // CommonMark has no empty code span: two backticks would be shown as they are.
    guard !content.isEmpty else { return "` `" }
    let fence = String(repeating: "`", count: longestTicks(content) + 1)
    // CommonMark removes one space at each end of a code span. It separates the content's backtick
    // from the fence.
    let space = content.hasPrefix("`") || content.hasSuffix("`") ? " " : ""
    return "\(fence)\(space)\(content)\(space)\(fence)"
  }

  private static func longestTicks(_ text: String) -> Int {
    var longest = 0
    var current = 0
    for byte in text.utf8 {
      current = byte == UInt8(ascii: "`") ? current + 1 : 0
      longest = max(longest, current)
    }
    return longest
  }
}
