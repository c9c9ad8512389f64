import Foundation

/// docs/glossary.md: its terms are used, and the words that it replaces are not.
enum GlossaryRule {
  static let page = "docs/glossary.md"

  /// One row of the table of terms.
  struct Term: Hashable {
    var term: String
    /// Words in code type, on the command line or in files.
    var words: [String]
    var names: [String]
  }

  /// The rows of the first table of the page.
  static func terms(in page: String) -> [Term] {
    let rows = page.split(separator: "\n").drop { !$0.hasPrefix("| term | meaning") }
    return rows.dropFirst(2).prefix { $0.hasPrefix("|") }.map { row in
      let cells = row.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      return Term(
        term: cells.first ?? "", words: code(cells.dropFirst(2).first ?? ""),
        names: code(cells.dropFirst(3).first ?? ""))
    }
  }

  /// The parts of a cell between backticks.
  private static func code(_ cell: String) -> [String] {
    cell.split(separator: "`", omittingEmptySubsequences: false).enumerated()
      .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
  }

  /// Terms that the other pages, or words and names that the sources, do not use.
  static func findings(of terms: [Term], sources: String, docs: String) -> [Finding] {
    terms.flatMap { term in
      let unused = (term.words + term.names).filter { !sources.contains($0) && !docs.contains($0) }
      let isSaid = docs.range(of: term.term, options: .caseInsensitive) != nil
      return unused.map { Finding(path: page, line: 0, rule: "'\($0)' is not used") }
        + (isSaid ? [] : [Finding(path: page, line: 0, rule: "no page says '\(term.term)'")])
    }
  }

  /// Old words, as they would be written today by mistake.
  private static let old = [
    "[Rr]edecid", "[Rr]eenact", #"\b(?:[Cc]ost )?[Tt]apes?\b"#, "[Cc]ostTape",
    #"\b[Tt]hinned\b"#, #"\b[Ss]uperseded\b"#, #"\b[Qq]uantum\b"#, "[Qq]uantis",
    #"mode:? lossless\b"#, #"`lossless`"#, #"\.lossless\b"#, #"\.lanes\(\d"#, #""lanes": ?\d"#,
    "retake golden stale",
  ]

  static let pattern = "(?:" + old.joined(separator: "|") + ")"

  /// Files that name old words so that their users find the new words.
  private static let exceptions = [
    page, "FormerWords.swift", "DocumentWords.swift", "RenamedWords.swift",
    "ReportDocument+Older.swift",
  ]

  static func isChecked(_ path: String) -> Bool {
    let isProse = path == "README.md" || path.hasPrefix("docs/") && path.hasSuffix(".md")
    let isSource =
      path.hasPrefix("Sources/") || path.hasPrefix("Python/retake/") || path.hasPrefix("C/")
    return (isProse || isSource) && !exceptions.contains { path.hasSuffix($0) }
  }

  /// Old words. A line that says "stored" may name one: docs/glossary.md has the list.
  static func findings(in file: SourceFile) throws -> [Finding] {
    let lines = file.text.split(separator: "\n", omittingEmptySubsequences: false)
    return try LinePattern(pattern).lines(in: file.text)
      .filter { !lines[$0 - 1].contains("stored") }
      .map { Finding(path: file.path, line: $0, rule: "write the word of docs/glossary.md") }
  }
}
