import ArgumentParser
import Foundation
import Retake

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify",
    abstract: "Check that a case returns the same bytes under conditions that must not matter.",
    discussion: """
      Runs the case again with other numbers of workers, random delays and poisoned memory, and in
      new processes with another hash seed, a poisoned heap, and fewer of the processor's
      instructions. Names the first stage and frame that differs, and the likely causes.

      Values that differ only with the processor's instructions are platform-dependent: exit 0, or
      1 with --portable. A decision that differs is never platform-dependent.

      With --device-noise the runs have no other conditions: they measure the rounding noise of the
      devices that compute the models, and print the tolerances that 'golden calibrate' would write.

      Examples:
        retake verify clip --pipeline example:motion-boxes
        retake verify yard --pipeline motion-slow --json
        retake verify yard --pipeline motion --portable
        retake verify yard --pipeline faces --device-noise 10 --run from-the-other-card

      Exit codes: 0 deterministic, 1 not, 2 error.
      """)

  @Argument(help: "A session: its name in Recordings, or its folder.")
  var session: String?

  @OptionGroup var selection: CaseOptions

  @Flag(help: "Values must be the same on other processors too.")
  var portable = false

  @Option(
    help: ArgumentHelp(
      "Run the case this often on its devices, and measure how far the runs differ.",
      valueName: "runs"), transform: Bounded.whole(1...100))
  var deviceNoise: Int?

  @Option(
    name: .customLong("run"),
    help: "With --device-noise: the folder of a run on another device; repeat for several.")
  var given: [String] = []

  @OptionGroup var programs: ProgramOptions
  @OptionGroup var watchdog: WatchdogOptions
  @OptionGroup var output: OutputOptions

  // The arguments of a process that verify starts: its condition, and the folder for its trace.
  @Option(help: .hidden) var condition: String?
  @Option(help: .hidden) var trace: String?

  func validate() throws {
    try selection.checkMode()
    guard (condition == nil) == (trace == nil) else {
      throw ValidationError("--condition and --trace go together")
    }
    guard deviceNoise != nil || given.isEmpty else {
      throw ValidationError("--run is for --device-noise; add for example: --device-noise 1")
    }
    guard deviceNoise != 1 || !given.isEmpty else {
      throw ValidationError(
        "one run cannot be compared; write --device-noise 10, or add --run FOLDER")
    }
  }

  func run() throws {
    // Before `listen`: a started process ends with its parent, not by its own requests.
    if let condition, let trace { return try record(condition, into: trace) }
    Interruption.listen()
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    if let deviceNoise { return try measure(deviceNoise, line) }
    let makeReplay = try replayMaker()
    if let note = selection.note { output.note(note) }
    let report = try Verification(
      newProcesses: NewProcessRuns(
        arguments: Self.arguments(for:folder:),
        isInterrupted: { Interruption.isRequested }),
      makeReplay: makeReplay, progress: { line.update("verifying", done: $0, total: $1) }
    ).run()
    line.finish()
    if output.json {
      try Console.json(VerifyDocument(report, isPortable: portable))
    } else {
      Console.result(VerifyText.of(report))
    }
    let status = report.status(isPortable: portable)
    if status != .passed { throw CommandEnd(status: status) }
  }

  private func measure(_ runs: Int, _ line: ProgressLine) throws {
    let project = try project()
    var measurement = NoiseMeasurement(
      project: project, definition: try selection.definition(in: project),
      session: try session.map { try project.sessionPath($0) }, runs: runs)
    measurement.given = given
    measurement.options = watchdog.options()
    measurement.progress = { line.update("measuring", done: $0, total: $1) }
    let report = try measurement.run()
    line.finish()
    if output.json { return try Console.json(report) }
    Console.result(VerifyText.of(report))
  }

  private func project() throws -> Project {
    selection.allowingNamed(try programs.project(watchdog, for: selection.wholeProgram))
  }

  private func replayMaker() throws -> (VerifyCondition) throws -> Replay {
    let project = try project()
    let definition = try selection.definition(in: project)
    let path = try session.map { try project.sessionPath($0) }
    let options = watchdog.options()
    return { condition in
      // Without a cache: a value of an earlier run would hide that this run computes another one.
      var job = ReplayJob(project: project, definition: definition, session: path)
      job.options = options.under(condition)
      do {
        return try job.makeReplay()
      } catch let error as any RetakeError {
        // Errors of a replay advise `retake replay`, which would not verify the case.
        throw error.replacingAdvice("retake replay SESSION", with: "retake verify SESSION")
      }
    }
  }
}

extension VerifyCommand {
  /// The arguments of this process, with the arguments for its copy.
  private static func arguments(for condition: VerifyCondition, folder: String) -> [String] {
    let words = CommandEnvironment.current.arguments
    // Directly after the command: at the end they would be arguments if the user wrote `--`.
    return words.prefix(1) + ["--condition", condition.name, "--trace", folder]
      + words.dropFirst()
  }

  /// The work of a process that verify started. This is the only place where processor instructions
  /// are disabled, before anything is decoded.
  private func record(_ name: String, into folder: String) throws {
    guard let condition = VerifyCondition.newProcess(named: name) else {
      throw ValidationError("'--condition \(name)' is not one of this program's")
    }
    Interruption.endWithParent()
    condition.process?.processor.force()
    try Verification.record(try replayMaker()(condition), into: folder)
  }
}
