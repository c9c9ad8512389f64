import Testing

@testable import RetakeBench
@testable import retake_lab

@Suite struct PreviewArticleTests {
  @Test func `each statement has the figure that the trials of the table give`() throws {
    let rows = try PreviewArticle.rows()
    func here(_ start: String) throws -> String {
      try #require(rows.first { $0.statement.hasPrefix(start) }).here
    }
    #expect(try here("images a second while vision takes") == "60, 0 repeated, jitter 0.0 ms")
    #expect(try here("the same while vision never") == "60, jitter 0.0 ms")
    #expect(try here("drawing takes 17 ms") == "11 of 600 dropped, the first ones 52, 103, 154")
    #expect(try here("the same without dropping").hasSuffix("20.0 ms more each second"))
    #expect(try here("images a second while it is hot") == "30 of 60 left out")
    #expect(try here("points a second") == "240")
    #expect(try here("a buffer of 1920x1080") == "3.1 MB")
    #expect(rows.allSatisfy { !$0.statement.isEmpty && !$0.article.isEmpty && !$0.here.isEmpty })
  }

  @Test func `without figures no statement on heat has a row`() {
    #expect(HeatTable(rows: []).statements.isEmpty)
  }
}
