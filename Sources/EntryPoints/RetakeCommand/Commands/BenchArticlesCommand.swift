import ArgumentParser
import Retake
import RetakeBench

struct BenchArticlesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "articles",
    abstract: "Print the figures of three articles next to Retake's, in virtual time.",
    discussion: """
      pipelines: declarative camera pipelines. allocation: the predictive allocation of frames.
      preview: double-buffered previews. The numbers are the same on every machine.

      Examples:
        retake bench articles
        retake bench articles allocation --json
      """)

  @Argument(
    help: ArgumentHelp("pipelines, allocation or preview; all three if none is named."))
  var article: [ArticleTable.Article] = []

  @OptionGroup var output: OutputOptions

  func run() throws {
    let articles = article.isEmpty ? ArticleTable.Article.allCases : article
    let tables = try ArticleTable.tables(of: articles)
    if output.json { return try Console.json(tables) }
    Console.result(tables.map(\.text).joined(separator: "\n\n\n"))
  }
}

extension ArticleTable.Article: ExpressibleByArgument {}
