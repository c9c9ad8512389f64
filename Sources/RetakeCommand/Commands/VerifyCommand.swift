import ArgumentParser
import Retake

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Prove that a case gives the same bytes under conditions that must not matter.",
    discussion: """
      Runs the case again with other numbers of workers, random delays and poisoned memory, and
      names the first stage and frame that differs. Exits with 1 if anything does.

      Examples:
        retake verify clip --pipeline example:motion-boxes
        retake verify yard --pipeline motion-slow --json
      """)

  @Argument(help: "A session: its name in Recordings, or its folder.")
  var session: String?

  @OptionGroup var selection: CaseOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    Interruption.listen()
    let environment = CommandEnvironment.current
    let project = try environment.project()
    let definition = try selection.definition(in: project)
    let path = try session.map { try project.sessionPath($0) }
    if let note = selection.note { output.note(note) }
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    let report = try Verification(
      makeReplay: { condition in
        var job = ReplayJob(
          project: project, definition: definition, session: path,
          registry: environment.registry, pipelines: environment.pipelines)
        job.workers = condition.workers
        job.perturbation = condition.perturbation
        job.poisonsMemory = condition.poisonsMemory
        job.isInterrupted = { Interruption.isRequested }
        return try job.makeReplay()
      }, progress: { line.update("verifying", done: $0, total: $1) }
    ).run()
    line.finish()
    if output.json { try Console.json(report) } else { Self.show(report) }
    if !report.isDeterministic { throw CommandEnd(status: .regression) }
  }

  private static func show(_ report: VerifyReport) {
    for variation in report.variations {
      Console.result(
        "\(variation.divergence == nil ? "same     " : "different")  \(variation.name)")
    }
    if let divergence = report.firstDivergence {
      Console.result("not deterministic: \(divergence.message)")
      Console.result(
        "next: look for clocks, random numbers and shared state in "
          + "'\(divergence.stage ?? "the engine")'")
    } else {
      Console.result(
        "deterministic: \(report.frames) frames, \(report.variations.count + 1) runs, "
          + "decisions \(report.decisionDigest.short), results \(report.resultDigest.short)")
    }
  }
}
