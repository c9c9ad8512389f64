import Testing

/// The language of comments, which strangers read first.
@Suite struct LanguageTests {
  @Test func `comments are written in plain English`() throws {
    let files = try Repository.swiftFiles(in: ["Sources", "Tests", "Examples"])
    let lines = files.reduce(0) { $0 + LanguageRule.commentLines(of: $1) }
    let findings = try files.flatMap { try LanguageRule.findings(in: $0) }
    #expect(lines > 5_000)
    #expect(
      1_000 * findings.count <= LanguageRule.perThousandMax * lines,
      "\(findings.count) of \(lines) comment lines, such as \(findings.prefix(20))")
  }

  @Test func `comments and pages name their subjects`() throws {
    let files = try Repository.swiftFiles(in: ["Sources"])
    let lines = files.reduce(0) { $0 + LanguageRule.commentLines(of: $1) }
    let comments = try LinePattern(LanguageRule.vagueCommentPattern)
    let vague = files.reduce(0) { $0 + comments.lines(in: $1.text).count }
    #expect(lines > 5_000)
    #expect(
      1_000 * vague <= LanguageRule.vagueCommentsPerThousandMax * lines, "\(vague) of \(lines)")

    let pages = try Repository.texts().filter { file in
      file.path == "README.md" || file.path.hasPrefix("docs/") && file.path.hasSuffix(".md")
    }
    let prose = pages.flatMap { LanguageRule.prose(of: $0) }
    let count = try LinePattern(LanguageRule.vaguePattern)
      .lines(in: prose.joined(separator: "\n")).count
    #expect(prose.count > 2_000)
    #expect(
      1_000 * count <= LanguageRule.vagueProsePerThousandMax * prose.count,
      "\(count) of \(prose.count)")
  }

  @Test func `a vague line is found, and a fence is no prose`() throws {
    let words = try LinePattern(LanguageRule.vaguePattern)
    #expect(words.lines(in: "What it gives.\nA stage returns a frame.\nSomewhat.\nOnes") == [1, 4])
    let page = SourceFile(path: "docs/a.md", text: "One line.\n```sh\nwhat\n```\n\nTwo.\n")
    #expect(LanguageRule.prose(of: page) == ["One line.", "Two."])
    let comments = try LinePattern(LanguageRule.vagueCommentPattern)
    #expect(comments.lines(in: "let what = 1\n  /// What it gives.\n// Plain.") == [2])
  }

  @Test(arguments: [
    "/// What the value hangs on.", "  // The caller is told of it.", "/// Whoever asks first.",
    "/// It is no error.", "/// At most so many frames.", "// It goes on without.",
    "/// Where the file lies.", "/// It is made anew.", "// The frame lies beside it.",
  ])
  func `a turn that reads as translated is found`(line: String) throws {
    let file = SourceFile(path: "Sources/Engine/RetakeCore/A.swift", text: "let a = 1\n\(line)\n")
    #expect(try LanguageRule.findings(in: file).map(\.line) == [2])
  }

  @Test(arguments: [
    "/// There is no file here.", "/// It is no longer used.", "/// The queue stands still.",
    "/// As so many as are needed.", "let text = \"is told\"", "/// Besides, it is believed.",
  ])
  func `plain English is let alone`(line: String) throws {
    let file = SourceFile(path: "Sources/Engine/RetakeCore/A.swift", text: "\(line)\n")
    #expect(try LanguageRule.findings(in: file) == [])
  }
}
