import Foundation
import RetakeTestSupport
import Testing

@testable import retake_lab

/// The page of the lab has the figures that its commands print, on every machine.
@Suite struct LabPageTests {
  private let page: String

  init() throws {
    page = try String(
      contentsOf: packageRoot.appending(path: "Sources/Lab/README.md"), encoding: .utf8)
  }

  @Test(arguments: ArticleTable.Article.allCases)
  func `the page has the figures next to each article's`(article: ArticleTable.Article) throws {
    let table = try #require(try ArticleTable.tables(of: [article]).first)
    #expect(page.contains("\n```\n\(table.text)\n```\n"), "\(table.text)")
  }

  @Test(arguments: PoolStudy.allCases.filter { $0 != .measured })
  func `the page has the result of each study`(study: PoolStudy) throws {
    let text = try study.run().text
    #expect(page.contains("\n```\n\(text)\n```\n"), "\(text)")
  }

  @Test func `each statement on the allocation of frames has its figure and one of the trials`()
    throws
  {
    let rows = try AllocationArticle.rows()
    #expect(rows.count == 16)
    for row in rows {
      let line = "| \(row.statement) | \(row.article) | \(row.here) |"
      #expect(page.contains(line + "\n"), "\(line)")
    }
    #expect(rows.allSatisfy { !$0.here.isEmpty && $0.here != "-" && !$0.article.isEmpty })
  }

  @Test func `the program holds the bytes of the files`() throws {
    let embedded = [
      "dips-fast.json": EmbeddedResources.dipsFastJSON,
      "dips-mild.json": EmbeddedResources.dipsMildJSON,
      "dips-slow.json": EmbeddedResources.dipsSlowJSON,
    ]
    #expect(try resourcesThatDiffer(from: embedded, of: "Lab/retake-lab") == [])
  }

  @Test(arguments: [["articles", "pools"], ["pools", "all"], ["soak", "1s"]])
  func `an argument that does not exist is refused`(words: [String]) {
    #expect(throws: (any Error).self) {
      var command = try Lab.parseAsRoot(words)
      try command.run()
    }
  }
}
