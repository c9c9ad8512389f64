import ArgumentParser
import Retake

struct GoldenSyncRulesCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "sync-rules",
    abstract: "Copy the tolerances and budgets of retake.yml into accepted goldens.",
    discussion: """
      A golden is compared by the rules that it was accepted with. This command copies the rules of
      retake.yml into golden.yml where they differ, and prints each difference. A golden without a
      pipeline.json gets one if its pipeline is unchanged: a report can then name the option that
      changed. --pipelines only adds pipeline.json and keeps the rules.

      Examples:
        retake golden sync-rules --dry-run
        retake golden sync-rules --pipelines
        retake golden sync-rules yard/motion
      """)

  @Argument(help: "SESSION or SESSION/CASE: names in Recordings, folders, or globs in quotes.")
  var sessions: [String] = []

  @Option(name: .customLong("case"), help: "A case of retake.yml; repeat for several.")
  var cases: [String] = []

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Flag(help: "Add only the pipelines' documents; tolerances and budgets stay as they are.")
  var pipelines = false

  @Flag(help: "Show the changes without writing them.")
  var dryRun = false

  @OptionGroup var programs: ProgramBan

  @OptionGroup var output: OutputOptions

  func run() throws {
    let environment = CommandEnvironment.current
    let project = try programs.project()
    var sync = GoldenRuleSync(
      project: project, selection: Selection(sessions: sessions, cases: cases))
    sync.goldens = goldens.map { project.path($0) }
    sync.leavesRules = pipelines
    sync.isCI = environment.isCI
    let items = try sync.run(isDryRun: dryRun)
    if output.json { return try Console.json(items) }
    for item in items {
      Console.result(item.key)
      for change in item.changes { Console.result("  \(dryRun ? "would set " : "")\(change)") }
      if let note = item.note { Console.result("  \(note)") }
    }
    if items.isEmpty {
      let rules = pipelines ? "" : "the rules of retake.yml and "
      return Console.result("the goldens have \(rules)their pipelines' documents already")
    }
    let needsResults = items.contains(where: \.needsResults)
    output.note(
      needsResults
        ? "next: retake test, which leaves the results pending that the new order or images change"
        : "next: retake test")
  }
}
