import ArgumentParser
import Retake

struct GoldenCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "golden", abstract: "Calibrate tolerances, sync rules, and list goldens.",
    discussion: """
      Examples:
        retake golden calibrate --runs 3 --dry-run
        retake golden sync-rules
        retake golden list --stale
      """,
    subcommands: [GoldenFitCommand.self, GoldenSyncRulesCommand.self, GoldenListCommand.self])
}

struct GoldenFitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "calibrate",
    abstract: "Find tolerances by running cases under varied conditions, and write them.",
    discussion: """
      Runs are deterministic, so each run has a different condition: fewer processor instructions,
      another hash seed, a poisoned heap. Add runs of other machines or with other costs by their
      folders. A tolerance becomes one and a half times the largest error, rounded up to the
      precision of its sink; golden.yml records its origin. Runs that differ in more than numbers
      are an error.

      Examples:
        retake golden calibrate --runs 3 --dry-run
        retake golden calibrate yard --case motion --runs 3
        retake golden calibrate yard --case motion --run from-the-phone --runs 0
      """)

  @Argument(help: "Sessions: names in Recordings, folders, or globs in quotes.")
  var sessions: [String] = []

  @OptionGroup var selection: CaseOptions

  @Option(name: .customLong("case"), help: "A case of retake.yml; repeat for several.")
  var cases: [String] = []

  @Option(
    parsing: .unconditional,
    help: "At most this many runs of this machine, each under another condition.",
    transform: Bounded.whole(0...100))
  var runs = 3

  @Option(
    name: .customLong("run"),
    help: "The folder of a run that was made elsewhere; repeat for several.")
  var given: [String] = []

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  @Flag(help: "Show the changes without writing them.")
  var dryRun = false

  @OptionGroup var programs: ProgramBan

  @OptionGroup var output: OutputOptions

  // The arguments of a process that fit starts: the case, its condition, and the folder for its
  // run.
  @Option(help: .hidden) var only: String?
  @Option(help: .hidden) var condition: String?
  @Option(help: .hidden) var into: String?

  func validate() throws {
    try selection.checkMode()
    guard runs > 0 || !given.isEmpty else {
      throw ValidationError("'--runs \(runs)' is not between 1 and 100, or 0 with --run")
    }
    guard selection.pipeline == nil || cases.isEmpty else {
      throw ValidationError("--pipeline defines the case; leave out --case")
    }
  }

  func run() throws {
    let environment = CommandEnvironment.current
    let project = try programs.project()
    var chosen = Selection(sessions: sessions, cases: cases)
    if selection.pipeline != nil { chosen.definition = try selection.definition(in: project) }
    var fit = GoldenFit(project: project, selection: chosen) { key, condition, folder in
      Self.arguments(environment.arguments, key: key, condition: condition, folder: folder)
    }
    fit.goldens = goldens.map { project.path($0) }
    if let only, let condition, let into {
      // This process leads its own group, so Ctrl-C does not reach it.
      Interruption.endWithParent()
      return try fit.record(only, condition: condition, into: into)
    }
    Interruption.listen()
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    fit.runs = runs
    fit.given = given
    fit.isCI = environment.isCI
    fit.isInterrupted = { Interruption.isRequested }
    fit.progress = { line.update($0, done: $1, total: $2) }
    let items = try fit.run(isDryRun: dryRun)
    line.finish()
    try show(items)
  }

  /// The arguments of a process that fit starts: the arguments that the user typed, so that it
  /// selects the same cases, with its own arguments directly after the command. At the end they
  /// would be sessions if the user wrote `--`.
  static func arguments(
    _ words: [String], key: String, condition: String, folder: String
  ) -> [String] {
    let command = ["golden", "calibrate"].count
    return words.prefix(command) + ["--only", key, "--condition", condition, "--into", folder]
      + words.dropFirst(command)
  }

  private func show(_ items: [GoldenFit.Item]) throws {
    if output.json { return try Console.json(items) }
    for item in items {
      Console.result(
        "\(item.key)  \(counted(item.conditions.count, "run")): "
          + item.conditions.joined(separator: "; "))
      if item.rows.isEmpty { Console.result("  no run differs; the tolerances stay") }
      for row in item.rows {
        Console.result(
          "  \(dryRun ? "would allow" : "allows")  \(row.sink) \(row.quantity)  \(row.allowed)"
            + (row.devices.map { "  \($0)" } ?? "")
            + "  (largest error \(row.largest), until now \(row.before))")
      }
    }
  }
}
