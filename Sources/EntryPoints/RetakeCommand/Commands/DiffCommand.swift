import ArgumentParser
import Retake

struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff",
    abstract: "Compare two runs, a run with a golden, or the pipelines of a revision with yours.",
    discussion: """
      Without --base, both arguments are folders with golden files: Goldens/SESSION/CASE, or a
      folder that 'replay --output' wrote. A golden that is only pending counts as well. With --base, the selected sessions are replayed with the
      pipelines of a git revision and with the pipelines of the working tree; goldens are neither
      read nor written.
      Exits with 0 if the results are equal within the tolerances, with 1 if not, with 3 if the
      revision does not have the pipeline.

      Examples:
        retake replay clip --pipeline a.json --output run-a
        retake replay clip --pipeline b.json --output run-b
        retake diff run-a run-b --report report
        retake diff --base main
        retake diff --base HEAD~1 'yard-*' --case motion --report report
      """)

  @Argument(
    help: ArgumentHelp(
      "The reference folder, and the folder to compare with it; with --base, sessions.",
      valueName: "golden actual | sessions"))
  var words: [String] = []

  @Option(help: "A revision of git whose pipeline documents count as right.")
  var base: String?

  @Option(name: .customLong("case"), help: "With --base: a case of retake.yml; repeat for several.")
  var cases: [String] = []

  @Option(help: "With --base: a suite of retake.yml; 'default' if not given.")
  var suite: String?

  @Option(help: "Write report.html, report.json, junit.xml, codequality.json and summary.md here.")
  var report: String?

  @Option(
    parsing: .unconditional,
    help: "With --base: worker threads. Affects speed only.",
    transform: Bounded.workers)
  var workers = RunOptions.workersDefault

  @OptionGroup var programs: ProgramBan

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard base == nil else { return }
    guard words.count == 2 else {
      throw ValidationError("Name two folders, or a revision: retake diff --base main")
    }
    guard cases.isEmpty, suite == nil else {
      throw ValidationError("--case and --suite go with --base")
    }
  }

  func run() throws {
    let outcome = try base.map(compare(with:)) ?? compareFolders()
    if output.json {
      Console.data(String(decoding: try outcome.document.encoded(), as: UTF8.self))
    } else {
      Console.result(
        TerminalReport.render(outcome.document, palette: Console.isColored ? .ansi : .plain))
    }
    if let page = outcome.files.last { output.note("report: \(page.path)") }
    if let error = outcome.reportError { Console.error(error) }
    if outcome.status != .passed { throw CommandEnd(status: outcome.status) }
  }

  private func compareFolders() throws -> SuiteRun.Outcome {
    let project = try CommandEnvironment.current.project()
    var difference = RunDifference(
      golden: project.path(words[0]), actual: project.path(words[1]))
    difference.project = project
    difference.reportFolder = report
    difference.program = CommandEnvironment.current.program
    return try difference.run()
  }

  private func compare(with base: String) throws -> SuiteRun.Outcome {
    Interruption.listen()
    let environment = CommandEnvironment.current
    var selection = Selection(sessions: words, cases: cases)
    selection.suite = suite
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    var comparison = BaseComparison(
      project: try programs.project(), base: base, selection: selection)
    comparison.options = RunOptions(
      workers: workers, isInterrupted: { Interruption.isRequested })
    comparison.program = environment.program
    comparison.reportFolder = report
    comparison.progress = { line.update($0, done: $1, total: $2) }
    return try comparison.run()
  }
}
