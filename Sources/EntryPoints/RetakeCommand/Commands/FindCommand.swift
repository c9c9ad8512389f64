import ArgumentParser
import Retake
import RetakeBench

struct FindCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "find",
    abstract: "Find the frames about which two pipelines disagree most.",
    discussion: """
      Both pipelines are replayed over the sessions, and the frames are listed by how much their
      results at the primary sink differ: the next frames to look at, to label or to test.

      Examples:
        retake find --disagree old.json new.json
        retake find --disagree old.json new.json 'yard-*' --count 5 --json
        retake session trim yard --from 12.0 --to 14.0 --into Recordings   # keep such a span
      """)

  @Flag(help: "The frames whose results differ most between the two pipelines. Required.")
  var disagree = false

  @Argument(help: "A pipeline: a JSON file, a case of retake.yml, or example:NAME.")
  var first: String

  @Argument(help: "The other pipeline.")
  var second: String

  @Argument(help: "Sessions, or globs in quotes; all sessions if not given.")
  var sessions: [String] = []

  @Option(
    parsing: .unconditional, help: "The most frames that are listed.",
    transform: Bounded.whole(1...100_000))
  var count = 20

  @Option(
    parsing: .unconditional, help: "Worker threads. Affects speed only.",
    transform: Bounded.workers)
  var workers = RunOptions.workersDefault

  @OptionGroup var programs: ProgramOptions
  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard disagree else {
      throw ValidationError("Say what to find: retake find --disagree \(first) \(second)")
    }
  }

  func run() throws {
    Interruption.listen()
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    var search = DisagreementSearch(
      project: try programs.project(), first: first, second: second)
    search.sessions = sessions
    search.most = count
    search.options = RunOptions(workers: workers, isInterrupted: { Interruption.isRequested })
    search.progress = { line.update($0, done: $1, total: $2) }
    let outcome = try search.run()
    line.finish()
    if output.json { return try Console.json(outcome) }
    Console.result(visibleLines(Self.text(outcome), keepsColors: false))
  }

  private static func text(_ outcome: DisagreementSearch.Outcome) -> String {
    let summary =
      "\(outcome.different) of \(counted(outcome.frames, "frame")) differ between "
      + "\(outcome.first) and \(outcome.second)"
    guard !outcome.rows.isEmpty else { return summary }
    let table = TextTable(
      headings: [
        "session", "frame", "difference", "only first", "only second", "other class", "moved",
      ],
      rows: outcome.rows.map { row in
        [
          row.session, "\(row.frame)", number(row.disagreement), "\(row.onlyFirst)",
          "\(row.onlySecond)", "\(row.otherClass)", number(row.moved),
        ]
      }, wordColumns: [0])
    return (table.lines + [summary]).joined(separator: "\n")
  }

  private static func number(_ value: Double) -> String {
    FixedPoint.text(Int((value * 100).rounded()), digits: 2)
  }
}
