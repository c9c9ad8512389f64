import ArgumentParser
import Retake

struct AcceptCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "accept",
    abstract: "Accept pending goldens.",
    discussion: """
      Examples:
        retake accept --reason "first golden"
        retake accept yard/motion --reason "the new detector finds the second figure"
        retake accept 'yard-*' --reason "recalibrated" --dry-run
        retake accept --root-cause motion@0:26 --reason "a better threshold"
        retake accept --stage 'detect*' --reason "new model"
        retake accept yard/faces --alternate --reason "this GPU rounds otherwise"
        retake accept yard/motion --replace --reason "recorded again"
        retake accept --if-better                   # those that came closer to their labels

      Without a name, only goldens that the last 'retake test' made pending are accepted.

      With --root-cause or --stage, only the findings of these root causes are
      accepted; the others stay pending. The report has the ids of root causes.
      """)

  @OptionGroup var choice: PendingOptions
  @OptionGroup var causes: RootCauseOptions

  @Option(help: "Why the new result is right; kept in golden.yml.")
  var reason: String?

  @Flag(help: "Accept only results that came closer to the labels; the metrics are the reason.")
  var ifBetter = false

  @Flag(help: "Accept for this platform only; the golden stays as it is for all others.")
  var alternate = false

  @Flag(help: "Replace goldens of another session or case setting that has the same name.")
  var replace = false

  @Flag(help: "List the goldens that would be accepted, without changing them.")
  var dryRun = false

  @OptionGroup var output: OutputOptions

  func validate() throws {
    guard reason != nil || ifBetter else {
      throw ValidationError("Say why the new result is right: --reason \"why\"")
    }
    guard !ifBetter || (causes.rootCause.isEmpty && causes.stage.isEmpty) else {
      throw ValidationError(
        "labels score complete results; leave out --root-cause and --stage, or --if-better")
    }
  }

  func run() throws {
    var acceptance = try causes.acceptance(of: choice)
    acceptance.asAlternate = alternate
    acceptance.replacesOthers = replace
    acceptance.isOfLastTest = true
    acceptance.onlyBetter = ifBetter
    let items = try acceptance.run(reason: reason ?? "", isDryRun: dryRun)
    let earlier = acceptance.leftByEarlierTests
    try choice.tell(items, as: dryRun ? "would accept" : "accepted", json: output.json)
    for advice in items.compactMap(\.advice) { output.note("note: \(advice)") }
    guard !earlier.isEmpty else { return }
    output.note(
      "note: left pending, because the last 'retake test' did not run them: "
        + "\(visible(SuiteError.list(earlier))). Test them again, or name them to accept them")
  }
}

struct RejectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reject",
    abstract: "Discard pending goldens.",
    discussion: """
      Accepted goldens do not change. With --root-cause or --stage, only the findings of these
      root causes are discarded; the others can still be accepted.

      Without a name, all pending goldens are discarded, also goldens of tests before the last: list
      them first with --dry-run.

      Examples:
        retake reject yard/motion
        retake reject --root-cause motion@0:26
        retake reject --dry-run
      """)

  @OptionGroup var choice: PendingOptions
  @OptionGroup var causes: RootCauseOptions

  @Flag(help: "List the goldens that would be rejected, without removing them.")
  var dryRun = false

  @OptionGroup var output: OutputOptions

  func run() throws {
    let items = try causes.acceptance(of: choice).reject(isDryRun: dryRun)
    try choice.tell(items, as: dryRun ? "would reject" : "rejected", json: output.json)
  }
}

/// Selects the pending goldens.
struct PendingOptions: ParsableArguments {
  @Argument(help: "SESSION, SESSION/CASE, or globs of them in quotes; all if not given.")
  var keys: [String] = []

  @Option(help: "The folder of the goldens.")
  var goldens: String?

  func acceptance() throws -> Acceptance {
    let environment = CommandEnvironment.current
    let project = try environment.project()
    var acceptance = Acceptance(project: project)
    acceptance.goldens = goldens.map { project.path($0) }
    acceptance.pendingFolder = environment.pendingFolder
    acceptance.keys = keys
    acceptance.isCI = environment.isCI
    return acceptance
  }

  func tell(_ items: [Acceptance.Item], as verb: String, json: Bool) throws {
    if json {
      try Console.json(items)
      return
    }
    for item in items { Console.result(item.text(verb)) }
  }
}

/// Selects root causes of the pending goldens.
struct RootCauseOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp("A root cause's id, or a glob of ids; may be repeated.", valueName: "id"))
  var rootCause: [String] = []

  @Option(help: ArgumentHelp("A stage, or a glob; may be repeated.", valueName: "stage"))
  var stage: [String] = []

  func acceptance(of pending: PendingOptions) throws -> Acceptance {
    var acceptance = try pending.acceptance()
    acceptance.rootCauses = rootCause
    acceptance.stages = stage
    return acceptance
  }
}

extension Acceptance.Item {
  /// A line for people.
  func text(_ verb: String) -> String {
    let causes = rootCauses.isEmpty ? "" : "  \(rootCauses.prefix(5).joined(separator: ", "))"
    let waiting =
      left.isEmpty
      ? "" : "  (\(left.count) still waiting: \(left.prefix(3).joined(separator: ", ")))"
    // A golden can be accepted with frames that fail, and should not be by mistake.
    let failures = failed == 0 ? "" : "  (\(failed) failed at a stage)"
    let damage = damaged.map { "  (\($0.text(of: captured)))" } ?? ""
    let others = replaces.isEmpty ? "" : "  (\(replaces.joined(separator: "; ")))"
    return visible(
      "\(verb)  \(key)  \(kind)  \(counted(frames, "frame"))\(failures)\(damage)\(causes)"
        + "\(others)\(waiting)\(labels.map { "  labels: \($0)" } ?? "")")
  }
}
