import ArgumentParser
import Retake

struct CoverageCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "coverage",
    abstract: "List the decisions that the goldens of a suite contain, and those that they lack.",
    discussion: """
      For each pipeline of the suite: the drops, routes, failures, fallbacks, pool sizes and other \
      decisions that are possible, how often the accepted goldens contain each, and the first frame. \
      No case is replayed.

      Examples:
        retake coverage
        retake coverage --suite slow
        retake coverage 'yard-*' --case motion --json
        retake coverage --all --require       # in CI: a decision that no case takes is a failure

      Exit codes: 0 listed, 1 with --require and a decision that no case takes, 2 error,
      4 no golden.
      """)

  @Argument(help: "SESSION or SESSION/CASE: names in Recordings, folders, or globs in quotes.")
  var sessions: [String] = []

  @Option(name: .customLong("case"), help: "A case of retake.yml; repeat for several.")
  var cases: [String] = []

  @Option(help: "A suite of retake.yml; 'default' if not given.")
  var suite: String?

  @Flag(help: "The cases of all suites together.")
  var all = false

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Flag(help: "Exit with 1 if no case takes a possible decision.")
  var require = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard !all || suite == nil && sessions.isEmpty && cases.isEmpty else {
      throw ValidationError("--all selects every case; leave out sessions, --case and --suite")
    }
  }

  func run() throws {
    let project = try CommandEnvironment.current.project()
    var selection = Selection(sessions: sessions, cases: cases)
    selection.suite = suite
    var coverage = DecisionCoverage(project: project, selection: selection)
    coverage.coversAllSuites = all
    coverage.goldens = goldens.map { project.path($0) }
    let report = try coverage.report()
    if output.json {
      try Console.json(report)
    } else {
      Console.result(CoverageText.of(report))
    }
    for key in report.missing { output.note("note: no golden: \(key)") }
    if require, !report.never.isEmpty { throw CommandEnd(status: .regression) }
  }
}
