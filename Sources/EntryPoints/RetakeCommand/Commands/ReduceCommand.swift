import ArgumentParser
import Foundation
import Retake

struct ReduceCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reduce",
    abstract: "Make the smallest session that still shows a root cause, for a bug report.",
    discussion: """
      Trims the session and replays it, again and again, until the span is the shortest that shows
      the same root cause at the same frame; then leaves out branches and tracks that it does not
      need. Writes a folder with the short session, its golden and a retake.yml, in which
      'retake test' shows the root cause.

      The expected results come from the golden's pipeline, run over each span; with --base, from the
      pipeline of a git revision. If the golden's pipeline cannot be run again, because the code of a
      stage changed, they are the stored results.

      Examples:
        retake reduce yard/motion                             # the first divergence
        retake reduce yard/motion --root motion@0:54 --output bug
        retake reduce yard/motion --base main --json

      Exit codes: 0 reduced, 2 error.
      """)

  @Argument(help: "SESSION/CASE, or SESSION with --pipeline.")
  var session: String

  @Option(
    help: ArgumentHelp(
      "A root cause as 'retake test' prints it; the first divergence if not given.",
      valueName: "id"))
  var root: String?

  @Option(help: "A revision of git whose pipeline counts as right, instead of the golden's.")
  var base: String?

  @Option(help: "The folder to write; SESSION-CASE-reduced if not given.")
  var output: String?

  @OptionGroup var selection: CaseOptions

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @OptionGroup var programs: ProgramOptions
  @OptionGroup var cache: CacheOptions
  @OptionGroup var watchdog: WatchdogOptions
  @OptionGroup var form: OutputOptions

  func validate() throws {
    try selection.checkMode()
    guard base == nil || goldens == nil else {
      throw ValidationError(
        "--base compares with a revision, not with a golden: leave out --goldens")
    }
  }

  func run() throws {
    Interruption.listen()
    let project = selection.allowingNamed(
      try programs.project(watchdog, for: selection.wholeProgram))
    let chosen = try selection.chosen(session, in: project)
    let line = ProgressLine(isQuiet: form.quiet)
    defer { line.finish() }
    let name = "\(chosen.key.session)-\(chosen.key.testCase)-reduced"
    var reduction = Reduction(chosen, in: project, output: output ?? name)
    reduction.rootCause = root
    reduction.base = base
    reduction.goldens = goldens.map { project.path($0) }
    reduction.options = watchdog.options()
    reduction.openCache = { try cache.folder(in: project, standard: .automatic, note: $0) }
    reduction.program = CommandEnvironment.current.program
    reduction.progress = { line.update($0, done: $1, total: $2) }
    reduction.note = { text in
      line.finish()
      form.note(text)
    }
    let report = try reduction.run()
    line.finish()
    for note in report.notes { form.note("note: \(note)") }
    if form.json { return try Console.json(report) }
    Console.result(Self.text(of: report))
  }

  private static func text(of report: ReductionReport) -> String {
    func seconds(_ value: Double) -> String { FixedDecimal(value, decimals: 3).text }
    let size = counted((report.bytes + 1_023) / 1_024, "KiB", "KiB")
    var lines = [
      "reduced  \(report.key), root cause \(report.rootCause)",
      "  \(counted(report.frames, "frame")) of \(report.wholeFrames): \(seconds(report.seconds)) s "
        + "of \(seconds(report.wholeSeconds)) s, from \(seconds(report.fromSeconds)) s on; "
        + "\(counted(report.probes, "probe")), \(counted(report.replays, "replay"))",
    ]
    if !report.sinksLeftOut.isEmpty {
      lines.append("  without the sinks \(report.sinksLeftOut.joined(separator: ", "))")
    }
    lines.append("  \(report.folder)  \(size)")
    lines.append("  shows \(report.reducedRootCause): \(report.command)")
    return lines.joined(separator: "\n")
  }
}

extension CaseSelection {
  /// The single case of a session, from `SESSION/CASE`, or from `SESSION` and these options.
  ///
  /// - Throws: `SuiteError` for a session or a case that does not exist; `ValidationError` if several
  ///   cases are selected.
  func chosen(_ session: String, in project: Project) throws -> SelectedCase {
    var selection = Selection(sessions: [session])
    if pipeline != nil { selection.definition = try definition(in: project) }
    let found = try selection.resolve(in: project)
    guard found.count == 1, let only = found.first else {
      throw ValidationError(
        "'\(session)' has several cases: name one, such as \(found[0].key.description.shellWord)")
    }
    return only
  }
}
