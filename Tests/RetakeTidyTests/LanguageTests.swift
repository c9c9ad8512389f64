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
