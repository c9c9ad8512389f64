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

  private func expectBlock(_ text: String) {
    #expect(page.contains("\n```\n\(text)\n```\n"), "\(text)")
  }

  @Test func `the page has the figures next to each article's`() throws {
    let tables = try ArticleTable.tables(of: ArticleTable.Article.allCases)
    #expect(tables.map(\.article) == ArticleTable.Article.allCases)
    for table in tables { expectBlock(table.text) }
  }

  /// Without the study of failures, whose sessions run once for all tests.
  @Test(arguments: PoolStudy.allCases.filter { ![.measured, .failures].contains($0) })
  func `the page has the result of each study`(study: PoolStudy) throws {
    expectBlock(try study.run().text)
  }

  @Test func `the page has the result of the study of failures`() throws {
    expectBlock(try PoolFailures.all.get().result.text)
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
