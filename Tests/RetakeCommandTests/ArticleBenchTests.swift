import Foundation
import RetakeTestSupport
import Testing

/// The figures next to the articles' are those of the documentation on every machine.
@Suite struct ArticleBenchTests {
  @Test(arguments: ["pipelines", "allocation", "preview"])
  func `the page of the documentation has what the command gives`(article: String) throws {
    let workplace = try Workplace()
    let result = try workplace.retake("bench", "articles", article)
    try #require(result.status == 0, "\(result.stderr)")
    let page = try String(
      contentsOf: packageRoot.appending(path: "docs/articles.md"), encoding: .utf8)
    #expect(page.contains("\n```\n\(result.stdout)```\n"), "\(result.stdout)")
  }

  @Test func `an article that there is not is refused with those that there are`() throws {
    let workplace = try Workplace()
    let result = try workplace.retake("bench", "articles", "pools")
    #expect(
      result.status == 64 && result.stderr.contains("pipelines, allocation"), "\(result.stderr)")
  }
}
