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
    let environment = CommandEnvironment.current
    let project = try environment.project()
    if let note = selection.note { form.note(note) }
    let line = ProgressLine(isQuiet: form.quiet)
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
    job.decisions = decisions
    job.tape = writeTape
    job.note = { form.note("note: \($0)") }
    job.isInterrupted = { Interruption.isRequested }
    job.progress = { line.update("replaying", done: $0, total: $1) }
    let summary = try job.run()
    line.finish()
    if form.json { try Console.json(summary) } else { Console.result(SummaryText.of(summary)) }
    if let output { form.note("the run is in \(output)") }
    if let writeTape {
      form.note("the cost tape is in \(writeTape); decide with it: --costs tape:\(writeTape)")
    }
    if let halt = summary.haltedBy {
      Console.note("error: a stage halted the run [\(halt)]")
      throw CommandEnd(status: .trouble)
    }
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
