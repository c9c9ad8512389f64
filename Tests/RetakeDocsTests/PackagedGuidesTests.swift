import Foundation
import RetakeTestSupport
import Testing

/// The pages as a package contains them, without the source next to them.
@Suite struct PackagedGuidesTests {
  private struct Link: CustomStringConvertible {
    var page: String
    var target: String

    var description: String { "\(page): \(target)" }
  }

  /// The links of all pages below a folder to files, without links in code.
  private func links(in folder: URL) throws -> [Link] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path)
    return try names.filter { $0.hasSuffix(".md") }.sorted().flatMap { page in
      let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
      let prose = text.components(separatedBy: "```").enumerated()
        .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
      return prose.matches(of: #/\]\(([^()\s]+)\)/#).map { String($0.1) }
        .filter { !$0.contains("://") && !$0.hasPrefix("#") }
        .map { Link(page: page, target: $0) }
    }
  }

  private func isDead(_ link: Link, in folder: URL) -> Bool {
    let path = link.target.prefix { $0 != "#" }
    let target = folder.appending(path: link.page).deletingLastPathComponent()
      .appending(path: String(path)).standardizedFileURL
    return !target.path.hasPrefix(folder.standardizedFileURL.path + "/")
      || !FileManager.default.fileExists(atPath: target.path)
  }

  @Test func `no link of a packaged page is dead, and none is lost that the package can follow`()
    throws
  {
    let folder = try TemporaryFolder()
    let made = try runCommand(
      packageRoot.appending(path: "Scripts/package-guides").path, arguments: [folder.url.path])
    try #require(made.status == 0, "\(made.stderr)")
    let links = try links(in: folder.url)
    #expect(links.count > 100)
    #expect(links.filter { isDead($0, in: folder.url) }.map(\.description) == [])
    #expect(
      links.contains {
        $0.page.hasPrefix("docs/formats/") && $0.target == "report.schema.json"
      })

    let readme = try String(contentsOf: folder.file("README.md"), encoding: .utf8)
    #expect(readme.contains("Examples/FirstReplay (in the source)"))
    #expect(readme.contains("CONTRIBUTING (CONTRIBUTING.md in the source)"))
    #expect(readme.contains("[Write a stage of your own](docs/own-stage.md)"))
    #expect(readme.contains("](docs/report.png)"))
  }

  /// The anchors of a page as GitHub makes them: the headings in lower case, with `-` for spaces,
  /// without other marks.
  private func anchors(in text: String) -> Set<String> {
    let prose = text.components(separatedBy: "```").enumerated()
      .filter { $0.offset.isMultiple(of: 2) }.map(\.element).joined()
    return Set(
      prose.matches(of: #/(?m)^#+ (.+)$/#).map { heading in
        let title = heading.1.replacing(#/\[([^\]]*)\]\([^)]*\)/#) { $0.1 }.lowercased()
        return String(
          title.filter { $0.isLetter || $0.isNumber || "-_ ".contains($0) }
            .map { $0 == " " ? "-" : $0 })
      })
  }

  /// Links to anchors of pages that do not have them.
  private func deadAnchors(in folder: URL, pages: [String]) throws -> [String] {
    try pages.flatMap { page -> [String] in
      let text = try String(contentsOf: folder.appending(path: page), encoding: .utf8)
      return try text.matches(of: #/\]\(([^()\s#]*)#([^()\s]+)\)/#).compactMap { link in
        guard !link.1.contains("://"), link.1.isEmpty || link.1.hasSuffix(".md") else { return nil }
        let target =
          link.1.isEmpty
          ? folder.appending(path: page)
          : folder.appending(path: page).deletingLastPathComponent().appending(path: link.1)
        let known = anchors(in: try String(contentsOf: target, encoding: .utf8))
        return known.contains(String(link.2)) ? nil : "\(page): \(link.1)#\(link.2)"
      }
    }
  }

  @Test func `no link leads to an anchor that a page does not have`() throws {
    let docs = try FileManager.default.subpathsOfDirectory(
      atPath: packageRoot.appending(path: "docs").path
    ).filter { $0.hasSuffix(".md") }.sorted().map { "docs/" + $0 }
    #expect(docs.count > 40)
    let pages = ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"] + docs
    #expect(try deadAnchors(in: packageRoot, pages: pages) == [])
  }

  @Test func `a dead anchor would be found`() throws {
    let folder = try TemporaryFolder()
    try folder.write("[a](docs/b.md#c-d) [e](docs/b.md#x) [f](#g)\n# G\n", to: "R.md")
    try folder.write("## C, `d`\n", to: "docs/b.md")
    #expect(try deadAnchors(in: folder.url, pages: ["R.md"]) == ["R.md: docs/b.md#x"])
  }

  @Test func `a dead link would be found`() throws {
    let folder = try TemporaryFolder()
    try folder.write("[a](docs/b.md#c) [d](../e.md) [f](docs/g.md)\n```\n[h](i)\n```\n", to: "R.md")
    try folder.write("", to: "docs/b.md")
    let links = try links(in: folder.url)
    #expect(links.map(\.target) == ["docs/b.md#c", "../e.md", "docs/g.md"])
    #expect(links.filter { isDead($0, in: folder.url) }.map(\.target) == ["../e.md", "docs/g.md"])
  }
}
