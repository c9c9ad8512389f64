import ArgumentParser
import Foundation
import Retake

struct TestCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Replay the selected cases and compare them with their goldens.",
    discussion: """
      Without arguments: the default suite of retake.yml. A result that differs is written as pending
      next to its golden (*.new), unless CI is set; RETAKE_PENDING_DIR names another folder, also in CI.

      Examples:
        retake test
        retake test 'yard-*' --case motion
        retake test clip --pipeline example:motion-boxes --report report
        retake test --pipeline faces.json --source images:Faces
        retake test --suite slow --traces traces    # SESSION/CASE.json for ui.perfetto.dev
        retake test --strict                        # frames that are damaged are an error
        retake test --list                          # list the cases without running them
        retake test --shard 2/4 --blob 2.blob       # a quarter of the cases, for retake merge
        retake test --shard auto --blob mine.blob   # the shard that the CI job's variables name

      In a GitHub workflow each case that needs attention becomes an annotation, at most ten of a
      kind.

      Exit codes: 0 passed, 1 changed, 2 error, 3 golden missing, 4 nothing compared,
      5 not comparable, or in CI stale, 75 a disk failed: run it again.
      """)

  @Argument(help: "SESSION or SESSION/CASE: names in Recordings, folders, or globs in quotes.")
  var sessions: [String] = []

  @OptionGroup var selection: CaseOptions
  @OptionGroup var source: SourceOptions

  @Option(name: .customLong("case"), help: "A case of retake.yml; repeat for several.")
  var cases: [String] = []

  @Option(help: "A suite of retake.yml; 'default' if not given.")
  var suite: String?

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Flag(help: "List the cases without running them.")
  var list = false

  @Flag(help: "Refuse cases whose session has damaged frames: exit code 2, no pending golden.")
  var strict = false

  @Option(help: "Write report.html, report.json, junit.xml, codequality.json and summary.md here.")
  var report: String?

  @Option(help: "Write a trace of each case's virtual time into this folder.")
  var traces: String?

  @Option(
    parsing: .unconditional,
    help: "Worker threads per case. Affects speed only.",
    transform: Bounded.workers)
  var workers: Int?

  @Option(
    parsing: .unconditional,
    help: "Sessions to replay at once, the largest first; one per processor if not given.",
    transform: Bounded.whole(1...64))
  var jobs: Int?

  @Option(
    help: ArgumentHelp(
      "Test one of several parts of the cases: I/N, or auto.",
      discussion: """
        auto reads the number of a parallel job from the variables of GitLab CI, Buildkite, \
        CircleCI, Slurm, AWS Batch, Kubernetes or Bazel. auto/N states the number of jobs where no \
        variable does.
        """, valueName: "i/n"))
  var shard: String?

  @Option(help: ArgumentHelp("Follow this plan of 'retake plan --json'.", valueName: "file"))
  var plan: String?

  @Option(
    help: ArgumentHelp(
      "Write the results of the shard into this file, for 'retake merge'.", valueName: "file"))
  var blob: String?

  @OptionGroup var decoding: DecodingOptions
  @OptionGroup var programs: ProgramOptions
  @OptionGroup var cache: CacheOptions
  @OptionGroup var watchdog: WatchdogOptions
  @OptionGroup var form: OutputOptions

  func validate() throws {
    try selection.checkMode()
    guard selection.pipeline == nil || (cases.isEmpty && suite == nil) else {
      throw ValidationError("--pipeline defines the case; leave out --case and --suite")
    }
    guard
      selection.pipeline != nil
        // Cases of retake.yml have their own. Options without effect would look as if they had one.
        || (selection.mode == nil && selection.seed == nil && selection.track.isEmpty
          && selection.costs == nil && !selection.strictCosts && source.choice == nil
          && selection.overrides.texts.isEmpty)
    else {
      throw ValidationError(
        "--mode, --costs, --strict-costs, --seed, --track, --source and --override go with "
          + "--pipeline")
    }
    try source.check(sessions: sessions, tracks: selection.track, costs: selection.costs)
    try decoding.check(readsSession: source.choice == nil)
    guard shard != nil || plan == nil && blob == nil else {
      throw ValidationError("--plan and --blob go with --shard: write for example --shard 1/4")
    }
    guard shard == nil || !list else {
      throw ValidationError("--list lists all cases; 'retake plan' lists them by shard")
    }
  }

  func run() throws {
    if SandboxedProcess.current != nil { return try SandboxedDecoder.serve() }
    Interruption.listen()
    try CommandEnd.orInfrastructure { try test() }
  }

  private func test() throws {
    let environment = CommandEnvironment.current
    let project = selection.allowingNamed(
      try programs.project(watchdog, for: selection.wholeProgram))
    var chosen = Selection(sessions: sessions, cases: cases)
    chosen.suite = suite
    if selection.pipeline != nil { chosen.definition = try selection.definition(in: project) }
    chosen.definition?.source = source.choice
    if let note = selection.note { form.note(note) }
    let line = ProgressLine(isQuiet: form.quiet)
    defer { line.finish() }
    var suiteRun = SuiteRun(project: project, selection: chosen)
    suiteRun.goldens = goldens.map { project.path($0) }
    if let shard { try setShard(shard, of: &suiteRun, in: project) }
    if list { return try show(suiteRun.listing()) }
    try decoding.begin(for: environment.folder) { form.note($0) }
    // Together the sessions then compute on about as many threads as there are processors.
    suiteRun.jobs =
      jobs ?? max(1, ProcessInfo.processInfo.activeProcessorCount / max(1, workers ?? 1))
    suiteRun.options = watchdog.options(workers: workers)
    suiteRun.sharesProcessors = workers == nil
    suiteRun.openCache = {
      try cache.folder(in: project, standard: .automatic, note: $0)
    }
    suiteRun.follow(environment.variables)
    suiteRun.program = environment.program
    suiteRun.refusesDamage = strict
    suiteRun.reportFolder = report
    suiteRun.traceFolder = traces
    suiteRun.progress = { line.update($0, done: $1, total: $2) }
    let outcome = try suiteRun.run()
    line.finish()
    // The merge annotates the cases of all shards.
    try form.show(outcome, annotates: blob == nil)
  }

  private func setShard(_ text: String, of run: inout SuiteRun, in project: Project) throws {
    if let plan { run.plan = (plan, try ShardPlan(reading: project.path(plan))) }
    let number = try ShardNumber(
      text, planned: run.plan?.content.shards, variables: ProcessContext.current.variables)
    let source = number.source.isEmpty ? "" : ", from \(number.source.joined(separator: ", "))"
    if !source.isEmpty { form.note("note: this is shard \(number)\(source)") }
    (run.shard, run.blobFile) = (number, blob)
  }

  private func show(_ listing: [ListedCase]) throws {
    if form.json { return try Console.json(listing) }
    for item in listing { Console.result(visible(item.key) + (item.stale ? "  stale" : "")) }
  }
}
