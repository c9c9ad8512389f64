import Foundation
import RetakeTestSupport
import Testing

/// What `docc` does not report about the articles of the API's documentation.
enum CatalogRules {
  static let folder = "Sources/Retake/Retake.docc/"
  static let landing = folder + "Retake.md"

  /// - Parameter exists: Whether the repository has a file or folder at a path.
  static func findings(in files: [SourceFile], exists: (String) -> Bool) -> [Finding] {
    let pages = files.filter { $0.path.hasPrefix(folder) && $0.path.hasSuffix(".md") }
    let listed = listed(on: pages.first { $0.path == landing }?.text ?? "")
    let unlisted = pages.filter { $0.path != landing && !listed.contains(name(of: $0)) }.map {
      Finding(path: $0.path, line: 0, rule: "the Topics of Retake.md do not list this article")
    }
    let dangling = pages.flatMap { page in
      page.text.matches(of: /`((?:docs|Examples)\/[^`]*)`/).filter { !exists(String($0.1)) }.map {
        Finding(path: page.path, line: 0, rule: "there is no \($0.1)")
      }
    }
    return unlisted + dangling
  }

  private static func name(of page: SourceFile) -> String { String(page.name.dropLast(3)) }

  private static func listed(on page: String) -> Set<String> {
    let topics = page.components(separatedBy: "\n## Topics\n").dropFirst().joined()
    return Set(topics.matches(of: /\n- <doc:(\w+)>/).map { String($0.1) })
  }
}

@Suite struct CatalogTests {
  @Test func `the landing page lists each article, and articles name pages that exist`() throws {
    let files = try Repository.texts()
    #expect(files.count { $0.path.hasPrefix(CatalogRules.folder) } == 5)
    let findings = CatalogRules.findings(in: files) {
      FileManager.default.fileExists(atPath: Repository.url($0).path)
    }
    #expect(findings == [])
  }

  @Test func `an article that is not listed is found`() {
    let landing = SourceFile(
      path: CatalogRules.landing,
      text: "<doc:Lost>\n\n## Topics\n\n### Essentials\n\n- <doc:Live>\n")
    let articles = ["Live", "Lost"].map {
      SourceFile(path: CatalogRules.folder + "\($0).md", text: "# \($0)\n")
    }
    let findings = CatalogRules.findings(in: [landing] + articles) { _ in true }
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
