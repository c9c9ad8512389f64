import Foundation
import RetakeTestSupport
import Testing

/// The pages of the API's documentation, and the script that writes it.
@Suite struct CatalogTests {
  @Test func `the landing page lists each other page, and pages name files that exist`() throws {
    let files = try Repository.texts()
    #expect(files.count { $0.path.hasPrefix(CatalogRules.folder) } == 5)
    let findings = CatalogRules.findings(in: files) {
      FileManager.default.fileExists(atPath: Repository.url($0).path)
    }
    #expect(findings == [])
  }

  @Test func `a page that is not listed is found`() {
    let landing = SourceFile(
      path: CatalogRules.landing,
      text: "<doc:Lost>\n\n## Topics\n\n### Essentials\n\n- <doc:Live>\n")
    let pages = ["Live", "Lost"].map {
      SourceFile(path: CatalogRules.folder + "\($0).md", text: "# \($0)\n")
    }
    let findings = CatalogRules.findings(in: [landing] + pages) { _ in true }
    #expect(findings.map(\.path) == [CatalogRules.folder + "Lost.md"])
  }

  @Test func `without a build, the script says what to type`() throws {
    let folder = try TemporaryFolder()
    let text = try String(contentsOf: Repository.url("Scripts/docs"), encoding: .utf8)
    let script = try folder.write(text, to: "Scripts/docs")
    let result = try runCommand("bash", arguments: [script.path])
    #expect(result.status == 2)
    #expect(result.stderr.hasPrefix("docs: "))
    #expect(result.stderr.hasSuffix("type: make docs\n"))
  }

  @Test func `a page of docs that does not exist is found`() {
    let landing = SourceFile(path: CatalogRules.landing, text: "See `docs/a.md` and `docs/b.md`.")
    let findings = CatalogRules.findings(in: [landing]) { $0 == "docs/a.md" }
    #expect(findings.map(\.rule) == ["there is no docs/b.md"])
  }
}
