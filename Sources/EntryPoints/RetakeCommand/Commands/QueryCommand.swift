import ArgumentParser
import Retake
import RetakeBench

struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Ask all sessions and goldens of a project in SQL.",
    discussion: """
      The recordings and the accepted goldens become tables of SQLite in memory; nothing is changed.
      Times are in seconds from the beginning of a session. --tables lists the tables.

      Examples:
        retake query --tables
        retake query 'select session, frames, seconds from sessions order by frames desc'
        retake query "select session, testcase, count(*) n from results where fate = 'dropped'
          group by 1, 2 having n > 5"
        retake query "select f.session, f.sequence from frames f join events e using (session)
          where e.kind = 'thermal' and e.state = 'serious' and f.time >= e.time" --json
      """)

  @Argument(help: "A query in SQL.")
  var sql: String?

  @Flag(help: "List the tables and their columns.")
  var tables = false

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard (sql == nil) == tables else {
      throw ValidationError("Write a query, or --tables: retake query 'select * from sessions'")
    }
  }

  func run() throws {
    guard let sql else { return try listTables() }
    let project = try CommandEnvironment.current.project()
    var query = CorpusQuery(project: project)
    query.goldens = goldens.map { project.path($0) }
    let answer = try query.answer(sql)
    if output.json {
      let twice = answer.columns.first { name in answer.columns.count { $0 == name } > 1 }
      if let twice {
        throw ErrorFacts(
          "query.columns", "two columns of the answer are named '\(twice)'",
          advice: "Name one of them: select a.time as first, b.time as second")
      }
      return try Console.json(
        answer.rows.map { row in
          Dictionary(zip(answer.columns, row), uniquingKeysWith: { first, _ in first })
        })
    }
    let lines = TextTable(
      headings: answer.columns, rows: answer.rows.map { $0.map(Self.text) },
      wordColumns: Set(
        answer.columns.indices.filter { column in
          answer.rows.contains { if case .string = $0[column] { true } else { false } }
        })
    ).lines
    Console.result(visibleLines(lines.joined(separator: "\n"), keepsColors: false))
  }

  private static func text(_ value: JSONValue) -> String {
    switch value {
    case .null: "-"
    case .string(let text): visible(text)
    default: value.canonicalText
    }
  }

  private func listTables() throws {
    if output.json { return try Console.json(CorpusQuery.tables) }
    for table in CorpusQuery.tables {
      Console.result("\(table.name)(\(table.columns.joined(separator: ", ")))")
      Console.result("  \(table.about)")
    }
  }
}
