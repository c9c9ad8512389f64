import ArgumentParser
import Foundation
import Retake

struct ReplayCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "replay",
    abstract: "Replay a session through a pipeline in virtual time.",
    discussion: """
      The same session, pipeline, costs and seed give the same bytes, whatever the machine does.

      Examples:
        retake replay clip --pipeline example:motion-boxes
        retake replay clip --pipeline motion.json --mode redecide --decisions decisions.txt
        retake replay clip --pipeline motion.json --workers 4 --output run --json
        retake replay clip --pipeline motion.json --write-tape clip.tape
        retake replay clip --pipeline motion.json --costs tape:clip.tape
        retake replay clip --pipeline motion.json --costs tape:clip.tape+profile:slow-phone.json
        retake replay clip --pipeline motion.json --mode redecide --trace trace.json
        retake replay clip --pipeline motion.json --follow | jq -c .sinks
        retake replay clip --pipeline motion.json --metadata analytics=boxes.jsonl

      ui.perfetto.dev opens a trace. FILE may be - for standard output; what is told about the run
      then goes to standard error.
      """)

  @Argument(
    help: "A session: its name in Recordings, or its folder. None for pipelines with own frames.")
  var session: String?

  @OptionGroup var selection: CaseOptions

  @Option(help: "Threads that compute; changes the speed and nothing else. 2 if not given.")
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

  @Flag(help: "Stream results as JSON lines, one a frame; the summary is the last line.")
  var follow = false

  @Option(
    help: "Measure each stage's thread time, with one worker, and write a cost tape to this file.")
  var writeTape: String?

  @OptionGroup var form: OutputOptions

  func validate() throws {
    if let workers {
      guard (0...256).contains(workers) else {
        throw ValidationError("'--workers \(workers)' is not between 0 and 256")
      }
    }
    do throws(SuiteError) {
      try outputs.check()
    } catch {
      throw ValidationError(error.description)
    }
    guard !form.json || follow || outputs.leavesStandardOutput else {
      throw ValidationError("--json and a FILE of '-' both want standard output")
    }
    guard writeTape != nil else { return }
    guard workers ?? 1 == 1 else {
      throw ValidationError(
        "--write-tape measures one stage at a time: leave out --workers, or write --workers 1")
    }
    guard selection.costs == nil, !selection.strictCosts else {
      throw ValidationError("--write-tape measures what stages cost: leave out --costs")
    }
  }

  func run() throws {
    Interruption.listen()
    Console.outliveReaders()
    let environment = CommandEnvironment.current
    let project = try environment.project()
    if let note = selection.note { form.note(note) }
    let line = ProgressLine(isQuiet: form.quiet || !outputs.leavesStandardOutput)
    defer { line.finish() }
    var job = ReplayJob(
      project: project, definition: try selection.definition(in: project),
      session: try session.map { try project.sessionPath($0) },
      registry: environment.registry, pipelines: environment.pipelines)
    if job.definition.mode == .lossless, job.definition.overrides.contains(where: \.isEvent) {
      form.note("note: device events change nothing in lossless; write --mode redecide")
    }
    job.workers = workers ?? (writeTape == nil ? 2 : 1)
    job.output = output
    job.outputs = outputs
    job.note = { form.note("note: \($0)") }
    job.isInterrupted = { Interruption.isRequested }
    job.progress = { line.update("replaying", done: $0, total: $1) }
    let summary = try result(of: job)
    line.finish()
    try show(summary)
    if let output { form.note("the run is in \(output)") }
    if let writeTape {
      form.note("the cost tape is in \(writeTape); decide with it: --costs tape:\(writeTape)")
    }
    if let halt = summary.haltedBy {
      Console.note("error: a stage halted the run [\(halt)]")
      throw CommandEnd(status: .trouble)
    }
  }

  private var outputs: RunOutputs {
    var outputs = RunOutputs()
    outputs.follows = follow
    outputs.decisions = decisions
    outputs.tape = writeTape
    outputs.trace = trace
    outputs.metadata = metadata.map { MetadataOutput(parsing: $0) }
    return outputs
  }

  /// Whoever reads along may have seen enough, such as `head`: that is no error.
  private func result(of job: ReplayJob) throws -> RunSummary {
    do {
      return try job.run()
    } catch ReplayError.readerGone {
      throw CommandEnd(status: .passed)
    }
  }

  private func show(_ summary: RunSummary) throws {
    if follow {
      let line = JSONValue.object(["summary": try JSONValue(encoding: summary)])
      Console.result(line.canonicalText)
    } else if form.json {
      try Console.json(summary)
    } else if outputs.leavesStandardOutput {
      Console.result(SummaryText.of(summary))
    } else {
      form.note(SummaryText.of(summary))
    }
  }
}

extension MetadataOutput {
  /// `NODE=FILE`, or a file alone.
  init(parsing text: String) {
    guard let equals = text.firstIndex(of: "="), !text[..<equals].contains("/") else {
      self.init(path: text)
      return
    }
    self.init(sink: String(text[..<equals]), path: String(text[text.index(after: equals)...]))
  }
}

/// A run in a few lines for people.
enum SummaryText {
  static func of(_ summary: RunSummary) -> String {
    let frames = summary.frames
    var parts = ["\(frames.captured) captured", "\(frames.delivered) delivered"]
    for reason in frames.dropped.keys.sorted() {
      parts.append("\(frames.dropped[reason] ?? 0) dropped (\(reason))")
    }
    for (count, word) in [
      (frames.thinned, "thinned"), (frames.superseded, "superseded"), (frames.failed, "failed"),
      (frames.inFlight, "in flight"), (summary.lostBeforeCapture, "lost before capture"),
      (summary.payloadMissing, "without pixels"),
    ] where count > 0 { parts.append("\(count) \(word)") }
    let costs = summary.mode == "lossless" ? "" : "\n  costs     \(Self.costs(summary.costs))"
    let name = (summary.session.map { "\($0)/" } ?? "") + (summary.caseName ?? summary.pipeline)
    return """
      \(name)  \(summary.mode)
        \(parts.joined(separator: ", "))
        decisions \(summary.decisionDigest)
        results   \(summary.resultDigest)\(costs)
        \(Int(summary.framesPerSecond)) frames per second
      """
  }

  /// `93 % recorded, 7 % modelled (tape:1a2b3c4d)`. Only nothing is 0 %, and only all is 100 %.
  static func costs(_ costs: RunSummary.Costs) -> String {
    let total = costs.recorded + costs.modelled
    guard total > 0 else { return "none" }
    let nearest = (200 * costs.recorded + total) / (2 * total)
    let share =
      costs.modelled == 0 ? 100 : costs.recorded == 0 ? 0 : min(99, max(1, nearest))
    let source = costs.source.map { " (\($0))" } ?? ""
    return "\(share) % recorded, \(100 - share) % modelled\(source)"
  }
}
