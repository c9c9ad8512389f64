import ArgumentParser
import Foundation
import Retake

struct RunShardCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "run-shard",
    abstract: "Test one shard of a plan, and keep each result in a folder that machines share.",
    discussion: """
      Each case has a file in the store, with the digest of all files that decide about it as its
      name, such as its session, its golden and the program. A case with a result is not run again, so
      a shard whose machine was lost is simply started again. If the process of a case was killed
      twice, the case is reported as an error and not tried again. 'retake merge PLAN --store DIR'
      makes the report.

      Examples:
        retake plan --shards 8 --json > plan.json
        retake run-shard plan.json --index 3 --store results
        retake run-shard plan.json --store results  # the index is in the job's variables

      Exit codes: 0 each case has a result, also if results changed; 2 error; 64 wrong arguments;
      65 a case killed its process twice, the others have results; 75 a disk failed: run it again;
      130 interrupted.
      """)

  @Argument(help: "The file of 'retake plan --json'.")
  var plan: String

  @Option(
    parsing: .unconditional,
    help: "The number of the shard, from 1; from the variables of the job if not given.",
    transform: Bounded.whole(1...ShardPlan.shardsMax))
  var index: Int?

  @Option(help: ArgumentHelp("The folder of the results.", valueName: "dir"))
  var store: String

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Option(
    parsing: .unconditional, help: "Worker threads per case. Affects speed only.",
    transform: Bounded.workers)
  var workers: Int?

  @Option(
    parsing: .unconditional,
    help: "Sessions to replay at once, the largest first; one per processor if not given.",
    transform: Bounded.whole(1...64))
  var jobs: Int?

  @OptionGroup var programs: ProgramOptions
  @OptionGroup var cache: CacheOptions
  @OptionGroup var watchdog: WatchdogOptions
  @OptionGroup var form: OutputOptions

  func run() throws {
    Interruption.listen()
    try CommandEnd.orInfrastructure { try show(outcome()) }
  }

  private func outcome() throws -> SuiteRun.Outcome {
    let environment = CommandEnvironment.current
    let project = try programs.project(watchdog)
    let content = try ShardPlan(reading: project.path(plan))
    let shard = try ShardNumber(
      index: index, planned: content.shards, variables: ProcessContext.current.variables)
    let line = ProgressLine(isQuiet: form.quiet)
    defer { line.finish() }
    var suiteRun = SuiteRun(project: project, selection: Selection())
    suiteRun.goldens = goldens.map { project.path($0) }
    suiteRun.jobs =
      jobs ?? max(1, ProcessInfo.processInfo.activeProcessorCount / max(1, workers ?? 1))
    suiteRun.options = watchdog.options(workers: workers)
    suiteRun.sharesProcessors = workers == nil
    suiteRun.openCache = { try cache.folder(in: project, standard: .automatic, note: $0) }
    suiteRun.follow(environment.variables)
    suiteRun.program = environment.program
    suiteRun.progress = { line.update($0, done: $1, total: $2) }
    return try suiteRun.run(shard, of: (plan, content), store: project.path(store))
  }

  /// A changed result is a result of the shard, and only the merge ends with its status.
  private func show(_ outcome: SuiteRun.Outcome) throws {
    var outcome = outcome
    if outcome.status != .infrastructure, !outcome.document.cases.isEmpty {
      outcome.status = outcome.poisoned.isEmpty ? .passed : .poisoned
      outcome.document.exit =
        outcome.poisoned.isEmpty ? .kept : ReportExit(code: Int(outcome.status.rawValue))
    }
    try form.show(outcome, annotates: false)
  }
}
