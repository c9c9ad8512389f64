import Foundation
import Testing

/// One word for one idea, in code, files, help and pages.
@Suite struct GlossaryTests {
  private static func page() throws -> String {
    try String(contentsOf: Repository.url(GlossaryRule.page), encoding: .utf8)
  }

  @Test func `every term of the glossary is used in code and in the pages`() throws {
    let terms = GlossaryRule.terms(in: try Self.page())
    #expect(terms.count > 25)
    let texts = try Repository.texts()
    let sources = texts.filter { $0.path.hasPrefix("Sources/") }.map(\.text).joined()
    let docs = texts.filter { file in
      file.path != GlossaryRule.page && file.path.hasSuffix(".md") && file.path.hasPrefix("docs/")
    }.map(\.text).joined()
    #expect(GlossaryRule.findings(of: terms, sources: sources, docs: docs) == [])
  }

  @Test func `no source and no page has an old word`() throws {
    let files = try Repository.texts().filter { GlossaryRule.isChecked($0.path) }
    #expect(files.count > 500)
    #expect(try files.flatMap { try GlossaryRule.findings(in: $0) } == [])
  }

  @Test func `a term that nothing uses is found`() {
    let terms = GlossaryRule.terms(
      in: """
        | term | meaning | on the command line and in files | Swift |
        |---|---|---|---|
        | frame | An image. | `--frames` | `Frame` |
        | reel | Nothing. | `--reel` | `Reel` |

        """)
    #expect(terms.map(\.term) == ["frame", "reel"])
    let findings = GlossaryRule.findings(
      of: terms, sources: "struct Frame {} // --frames", docs: "A frame")
    #expect(
      findings.map(\.rule) == [
        "'--reel' is not used", "'Reel' is not used", "no page says 'reel'",
      ])
  }

  @Test(arguments: [
    "let mode = \"redecide\"", "/// A reenacted run.", "retake replay --costs tape",
    "| `thinned` | left out |", "frames.lanes(2)", "{\"quantum\": 1}", "retake golden stale",
    "--mode lossless",
  ])
  func `an old word is found`(line: String) throws {
    let file = SourceFile(path: "docs/a.md", text: "A page.\n\(line)\n")
    #expect(try GlossaryRule.findings(in: file).map(\.line) == [2])
  }

  @Test(arguments: [
    "A lossless preset.", "stored as `quantum`", "It calls a golden stale.",
    "Tracks have lanes.", "tapered",
  ])
  func `a word with another meaning is let alone`(line: String) throws {
    let file = SourceFile(path: "docs/a.md", text: "\(line)\n")
    #expect(try GlossaryRule.findings(in: file) == [])
  }
}
