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
      """)

  @Argument(
    help: "A session: its name in Recordings, or its folder. None for pipelines with own frames.")
  var session: String?

  @OptionGroup var selection: CaseOptions

  @Option(help: "Threads that compute; changes the speed and nothing else.")
  var workers = 2

  @Option(help: "Write the run here, as a golden folder and run.json.")
  var output: String?

  @Option(help: "Write every decision line, unfolded, to this file.")
  var decisions: String?

  @OptionGroup var form: OutputOptions

  func validate() throws {
    guard (0...256).contains(workers) else {
      throw ValidationError("'--workers \(workers)' is not between 0 and 256")
    }
  }

  func run() throws {
    Interruption.listen()
    let environment = CommandEnvironment.current
    let project = try environment.project()
    let line = ProgressLine(isQuiet: form.quiet)
    defer { line.finish() }
    var job = ReplayJob(
      project: project, definition: try selection.definition(in: project),
      session: try session.map { try project.sessionPath($0) },
      registry: environment.registry, pipelines: environment.pipelines)
    job.workers = workers
    job.output = output
    job.decisions = decisions
    job.isInterrupted = { Interruption.isRequested }
    job.progress = { line.update("replaying", done: $0, total: $1) }
    let summary = try job.run()
    line.finish()
    if form.json { try Console.json(summary) } else { Console.result(SummaryText.of(summary)) }
    if let output { form.note("the run is in \(output)") }
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
    let name = (summary.session.map { "\($0)/" } ?? "") + (summary.caseName ?? summary.pipeline)
    return """
      \(name)  \(summary.mode)
        \(parts.joined(separator: ", "))
        decisions \(summary.decisionDigest)
        results   \(summary.resultDigest)
        \(Int(summary.framesPerSecond)) frames per second
      """
  }
}
