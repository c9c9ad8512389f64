import ArgumentParser
import Foundation

/// Answers published articles. No user needs it, so no package contains it.
@main
struct Lab: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retake-lab",
    abstract: "Print the figures of three articles next to Retake's, and study pools.",
    subcommands: [ArticlesCommand.self, PoolsCommand.self, SoakCommand.self])

  /// Prints a result, as text or as JSON.
  static func show(_ text: String, _ value: some Encodable, asJSON: Bool) throws {
    guard asJSON else { return print(text) }
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes, .prettyPrinted]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
  }
}

struct ArticlesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "articles",
    abstract: "Print the figures of three articles next to Retake's, in virtual time.",
    discussion: """
      pipelines: declarative camera pipelines. allocation: the predictive allocation of frames.
      preview: double-buffered previews. The numbers are the same on every machine.
      """)

  @Argument(help: "pipelines, allocation or preview; all three if not given.")
  var article: [ArticleTable.Article] = []

  @Flag(help: "Print the result as JSON.")
  var json = false

  func run() throws {
    let articles = article.isEmpty ? ArticleTable.Article.allCases : article
    let tables = try ArticleTable.tables(of: articles)
    try Lab.show(tables.map(\.text).joined(separator: "\n\n\n"), tables, asJSON: json)
  }
}

extension ArticleTable.Article: ExpressibleByArgument {}

struct PoolsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pools",
    abstract: "Answer one question about pools.",
    discussion: """
      swing: changes of size that are undone. packets: a link with a changing bandwidth. failures:
      buffers that cannot be made. goal: whether an article's figures can hold together. predictors:
      on loads drawn from a seed. measured: real time on this machine.
      """)

  @Argument(help: "swing, packets, failures, goal, predictors or measured.")
  var study: PoolStudy

  @Flag(help: "Print the result as JSON.")
  var json = false

  func run() throws {
    let found = try study.run()
    try Lab.show(found.text, found.json, asJSON: json)
  }
}

extension PoolStudy: ExpressibleByArgument {}

struct SoakCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "soak",
    abstract: "Run a live pool at ten times the pace of a camera, and measure memory.")

  @Argument(help: "How long, from 12s to a day: 600s.")
  var time: String

  @Flag(help: "Print the result as JSON.")
  var json = false

  func run() throws {
    guard let time = Duration(parsing: time), time >= .seconds(12), time <= .seconds(86_400) else {
      throw ValidationError("'\(time)' is not a time from 12s to a day; use for example 600s")
    }
    let found = try PoolSoak(time: time) { false }.result
    try Lab.show(found.text, found.json, asJSON: json)
  }
}
