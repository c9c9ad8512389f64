import ArgumentParser
import Foundation
import Retake

struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Replay a session through a pipeline in virtual time.",
    discussion: """
      The same session, pipeline, costs and seed return the same bytes, under any load.

      Examples:
        retake replay clip --pipeline example:motion-boxes
        retake replay clip --pipeline motion.json --mode simulate --decisions decisions.txt
        retake replay clip --pipeline motion.json --workers 4 --output run --json
        retake replay clip --pipeline motion.json --write-timings clip.timings
        retake replay clip --pipeline motion.json --costs timings:clip.timings
        retake replay clip --pipeline motion.json --costs timings:clip.timings+profile:slow-phone.json
        retake replay clip --pipeline motion.json --sweep queue=1..6,executors=1..4
        retake replay clip --pipeline motion.json --sweep 'motion.queue=1|3|9,scale=1|2'
        retake replay hand --pipeline pulse.json --sweep 'pace.fps=10|15|30' --numbers
        retake replay clip --pipeline motion.json --mode simulate --trace trace.json
        retake replay clip --pipeline heat.json --mode simulate --override thermal=serious@2s
        retake replay clip --pipeline motion.json --follow | jq -c .sinks
        retake replay clip --pipeline motion.json --metadata analytics=boxes.jsonl
        retake replay clip --pipeline motion.json --overlay boxes.mp4
        retake replay --pipeline faces.json --source images:Faces
        retake replay yard --mode reproduce
        retake replay yard --mode reproduce --trace trace.json
        retake replay clip --pipeline motion.json --cache auto
        retake replay theirs --pipeline motion.json --sandbox always

      ui.perfetto.dev opens a trace. FILE may be - for standard output; messages about the run
      then go to standard error.

      Exits with 2 if the run was halted, or if frames failed and no frame reached a sink.
      """)

  @Argument(
    help: "A session: its name in Recordings, or its folder. Omit it if no source reads it.")
  var session: String?

  @OptionGroup var selection: CaseSelection<ReplayMode>
  @OptionGroup var source: SourceOptions

  @Option(
    parsing: .unconditional,
    help: """
      Threads that compute; only the speed depends on it. \(RunOptions.workersDefault) if not \
      given.
      """,
    transform: Bounded.workers)
  var workers: Int?

  @Option(help: "Write the run here, as a golden folder and run.json.")
  var output: String?

  @Option(help: "Write every decision line, unfolded, to this file.")
  var decisions: String?

  @Option(help: "Write a trace of virtual time to this file, for ui.perfetto.dev.")
  var trace: String?

  @Option(
    help: "Write the JSON lines of a metadata sink: NODE=FILE, or FILE if there is only one.")
  var metadata: [String] = []

  @Option(
    help: "Write a video of the session with the results drawn over it: .mp4, .mkv, .mov, .nut.")
  var overlay: String?

  @Flag(help: "Stream results as JSON lines, one a frame; the summary is the last line.")
  var follow = false

  @Option(
    help: "Measure each stage's thread time, with one worker, and write the timings to this file.")
  var writeTimings: String?

  @Option(
    help: ArgumentHelp(
      "Replay with each combination of values, and print a table of figures.",
      discussion: """
        For all nodes: queue, executors, pools, scale (of costs). For one node: NODE.queue, \
        NODE.concurrency, NODE.fps (of a throttle), EXECUTOR.count, POOL.capacity. Values are 4, \
        1..6 or 1|3|6; 256 combinations at most. Implies --mode simulate.
        """))
  var sweep: String?

  @Flag(
    help: ArgumentHelp(
      "With --sweep: show how each combination changes the numbers that reach sinks.",
      discussion: """
        Computes every stage, and compares each number with the number of an every-frame run: its \
        mean, the mean error and the largest error.
        """))
  var numbers = false

  @Option(
    name: .customLong("run"), parsing: .unconditional,
    help: "With --mode reproduce: which live run; the newest one if not given.",
    transform: Bounded.whole(from: 0))
  var liveRun: Int?

  @OptionGroup var decoding: DecodingOptions
  @OptionGroup var programs: ProgramOptions
  @OptionGroup var cache: CacheOptions
  @OptionGroup var watchdog: WatchdogOptions
  @OptionGroup var form: OutputOptions

  func validate() throws {
    // As a wrong argument: the parser then prints the usage, and the exit code is 64.
    do {
      try outputs.check()
    } catch let error as SuiteError {
      throw ValidationError(error.description)
    }
    // With --follow the output is JSON lines in any case, and the summary is one of them.
    guard !form.json || follow || outputs.leavesStandardOutput else {
      throw ValidationError("--json and a FILE of '-' both want standard output")
    }
    try source.check(
      sessions: [session].compactMap(\.self), tracks: selection.track, costs: selection.costs)
    try decoding.check(readsSession: session != nil)
    try checkReproduce()
    try checkSweep()
    guard writeTimings != nil else { return }
    // A value that is read instead of computed would be measured with a cost of zero.
    guard cache.cache.map({ $0 == "none" }) ?? true else {
      throw ValidationError("--write-timings measures every stage: leave out --cache")
    }
    guard workers ?? 1 == 1 else {
      throw ValidationError(
        "--write-timings measures one stage at a time: leave out --workers, or write --workers 1")
    }
    guard selection.costs == nil, !selection.strictCosts else {
      throw ValidationError("--write-timings measures the costs of stages: leave out --costs")
    }
  }

  private func checkReproduce() throws {
    guard selection.mode == .reproduce else {
      guard liveRun == nil else { throw ValidationError("--run goes with --mode reproduce") }
      return
    }
    guard session != nil else {
      throw ValidationError("--mode reproduce goes with a session that has a live run")
    }
    guard output == nil, decisions == nil, writeTimings == nil, overlay == nil, metadata.isEmpty,
      !follow, sweep == nil, selection.costs == nil, selection.overrides.texts.isEmpty
    else {
      throw ValidationError(
        "--mode reproduce repeats the recorded run: leave out --costs, --override, --sweep and "
          + "all output options except --trace")
    }
  }

  private func checkSweep() throws {
    guard try parsedSweep() != nil else {
      guard !numbers else { throw ValidationError("--numbers belongs to --sweep") }
      return
    }
    guard selection.mode != .everyFrame else {
      throw ValidationError("--sweep implies --mode simulate: leave out --mode")
    }
    guard output == nil, decisions == nil, writeTimings == nil, trace == nil, overlay == nil,
      metadata.isEmpty, !follow
    else {
      throw ValidationError("--sweep prints a table: leave out options that write a single run")
    }
  }

  private func parsedSweep() throws -> Sweep? {
    guard let sweep else { return nil }
    do {
      return try Sweep(parsing: sweep)
    } catch let error as ReplayError {
      throw ValidationError("'--sweep \(sweep)': \(error.message). \(error.advice ?? "")")
    }
  }

  func run() throws {
    if SandboxedProcess.current != nil { return try SandboxedDecoder.serve() }
    Interruption.listen()
    Console.outliveReaders()
    let line = ProgressLine(isQuiet: form.quiet || !outputs.leavesStandardOutput)
    // For errors: without one, the line is removed before the result is printed.
    defer { line.finish() }
    if let session { try decoding.begin(for: session) { form.note($0) } }
    if selection.mode == .reproduce { return try reproduce(line) }
    var job = try job()
    job.progress = { line.update("replaying", done: $0, total: $1) }
    // Parsed again: the parser decodes this struct, so it can store only options.
    if let sweep = try parsedSweep() {
      job.progress = { line.update("sweeping", done: $0, total: $1) }
      let report = try job.sweep(sweep, comparesNumbers: numbers)
      line.finish()
      return try show(report)
    }
    let failures = FailureLog {
      guard case .warning(let text) = $0 else { return }
      line.finish()
      form.note(text)
    }
    let times = StageTimes()
    job.observers = [failures] + (writeTimings == nil ? [] : [times])
    let summary = try result(of: job)
    line.finish()
    failures.finish()
    try finish(MeasuredSummary(summary: summary, stageTimes: times.totals))
  }

  private func job() throws -> ReplayJob {
    let project = selection.allowingNamed(
      try programs.project(watchdog, for: selection.wholeProgram))
    var definition = try selection.definition(in: project)
    definition.source = source.choice
    if let note = selection.note {
      form.note(note)
    } else if sweep != nil, definition.mode == .everyFrame {
      form.note("--sweep implies --mode simulate")
    }
    // In every-frame mode no queue, server or cost makes a difference.
    if sweep != nil { definition.mode = .simulate }
    var job = ReplayJob(
      project: project, definition: definition,
      session: try session.map { try project.sessionPath($0) })
    if job.definition.mode == .everyFrame, job.definition.overrides.contains(where: \.isEvent) {
      form.note("note: device events have no effect in every-frame mode; write --mode simulate")
    }
    job.options = options
    job.openCache = { try cache.folder(in: project, standard: .none, note: $0) }
    if let output { job.destination = .run(output) }
    job.outputs = outputs
    job.note = { form.note("note: \($0)") }
    return job
  }

  var options: RunOptions {
    // docs/costs.md: timings are measured with one worker.
    watchdog.options(workers: writeTimings == nil ? workers : 1)
  }

  private func finish(_ measured: MeasuredSummary) throws {
    try show(measured)
    let summary = measured.summary
    for notice in summary.notices ?? [] { form.note("warning: \(notice)") }
    for silence in summary.silenceNotes { form.note("warning: \(visible(silence))") }
    if let output { form.note("the run is in \(output)") }
    // A halted run leaves no timings.
    if let writeTimings, summary.haltedBy == nil {
      form.note(
        "the timings are in \(writeTimings); decide with them: --costs timings:\(writeTimings)")
    }
    if let halt = summary.halt {
      Console.note("error: the run was halted: \(halt). \(halt.advice)")
      throw CommandEnd(status: .error)
    }
    if let problem = SummaryText.nothingDelivered(summary) {
      Console.note(problem)
      throw CommandEnd(status: .error)
    }
  }

  var outputs: RunOutputs {
    var outputs = RunOutputs()
    outputs.follows = follow
    outputs.decisions = decisions
    outputs.timings = writeTimings
    outputs.trace = trace
    outputs.overlay = overlay
    outputs.metadata = metadata.map { MetadataOutput(parsing: $0) }
    return outputs
  }

  /// A reader such as `head` may stop early. That is not an error.
  private func result(of job: ReplayJob) throws -> RunSummary {
    do {
      return try job.run()
    } catch ReplayError.readerGone {
      throw CommandEnd(status: .passed)
    }
  }

  private func show(_ summary: MeasuredSummary) throws {
    if follow {
      let line = JSONValue.object(["summary": try JSONValue(encoding: summary)])
      Console.data(line.canonicalText)
    } else if form.json {
      try Console.json(summary)
    } else if outputs.leavesStandardOutput {
      Console.result(summary.text)
    } else {
      form.note(summary.text)
    }
  }

  private func show(_ report: SweepReport) throws {
    if form.json { try Console.json(report) } else { Console.result(SweepTable.text(of: report)) }
    for axis in report.idleAxes { form.note("note: \(axis) makes no difference here") }
  }
}

extension MetadataOutput {
  /// `NODE=FILE`, or a file alone.
  init(parsing text: String) {
    // A path may contain an equals sign. With a slash before it, that is not an id.
    guard let equals = text.firstIndex(of: "="), !text[..<equals].contains("/") else {
      self.init(path: text)
      return
    }
    self.init(sink: String(text[..<equals]), path: String(text[text.index(after: equals)...]))
  }
}
