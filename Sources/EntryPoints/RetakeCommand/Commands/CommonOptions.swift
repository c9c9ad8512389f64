import ArgumentParser
import Retake

/// The options that define a case, for `test`, `verify` and others of one session.
typealias CaseOptions = CaseSelection<VirtualMode>

/// The options that define a case. `Mode` has the modes that the command offers.
struct CaseSelection<Mode: ModeArgument>: ParsableArguments {
  @Option(
    name: [.short, .customLong("pipeline")],
    help: "A pipeline: a JSON file, a case of retake.yml, or example:NAME.")
  var pipelineName: String?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Run this program as the pipeline, instead of --pipeline.",
      discussion: """
        The command as in a shell: 'python3 app.py --fast'. docs/programs.md has the rules for \
        the program. This option allows it to be started.
        """, valueName: "command"), transform: CaseOptions.checkedCommand)
  var program: String?

  @Option(
    name: .customLong("program-transport"),
    help: "How --program gets frames: files (3 and 4), or stdio.",
    transform: { try CaseOptions.word($0, of: ["files", "stdio"]) })
  var programTransport: String?

  @Option(
    name: .customLong("program-clock"),
    help: "The clock of --program: real, or preload for virtual time with libfaketime.",
    transform: { try CaseOptions.word($0, of: ["real", "preload"]) })
  var programClock: String?

  @Option(name: .customLong("mode"), help: Mode.help)
  private var modeArgument: Mode?

  @Option(
    name: .long,
    help: ArgumentHelp(
      "Where virtual costs come from: declared, timings, timings:FILE, profile:FILE.",
      discussion: """
        timings are the session's own stage times, timings@RUN the times of one live run, \
        timings:FILE the times in a file of --write-timings. profile:FILE scales declared costs, \
        timings+profile:FILE recorded times. All but declared imply --mode simulate.
        """))
  var costs: String?

  @Flag(name: .long, help: "Fail if the timings lack a cost.")
  var strictCosts = false

  @Option(
    name: .long, parsing: .unconditional, help: "Seeds the draws of costs.",
    transform: Bounded.seed)
  var seed: UInt64?

  @Option(
    name: .long,
    help: "The track to read: a number, or NODE=NUMBER for a pipeline with several sources.")
  var track: [String] = []

  @OptionGroup var overrides: OverrideOptions

  var mode: RunOptions.Mode? { modeArgument?.mode }

  /// The name of the pipeline, in the sense of `Project.pipeline`.
  var pipeline: String? { wholeProgram?.name ?? pipelineName }

  /// The program that replaces the pipeline.
  var wholeProgram: ProgramPipeline? {
    guard let program, var pipeline = try? ProgramPipeline(command: program) else { return nil }
    pipeline.options["transport"] = programTransport.map(JSONValue.string)
    pipeline.options["clock"] = programClock.map(JSONValue.string)
    return pipeline
  }

  /// To name a program, timings or a profile on the command line is to allow it.
  func allowingNamed(_ given: Project) -> Project {
    var project = given
    if costs != nil { project.places.costs = { $0 } }
    if let program = wholeProgram?.program {
      project.programs = project.programs.adding(program)
    }
    return project
  }

  private static func checkedCommand(_ text: String) throws -> String {
    do {
      _ = try ProgramPipeline(command: text)
    } catch let error as SuiteError {
      throw ValidationError(error.description)
    }
    return text
  }

  private static func word(_ text: String, of words: [String]) throws -> String {
    guard words.contains(text) else {
      throw ValidationError("write \(words.joined(separator: " or "))")
    }
    return text
  }

  func validate() throws {
    guard program == nil || pipelineName == nil else {
      throw ValidationError("--program replaces the pipeline: leave out --pipeline")
    }
    guard program != nil || programTransport == nil && programClock == nil else {
      throw ValidationError("--program-transport and --program-clock go with --program")
    }
    if let costs {
      guard let choice = CostChoice(parsing: costs) else {
        throw ValidationError(
          "'--costs \(costs)' cannot be used here. Write one of: \(CostChoice.forms)")
      }
      guard !choice.needsSimulation || mode != .everyFrame else {
        throw ValidationError(
          "--costs \(costs) needs --mode simulate: stages have no cost in every-frame mode; "
            + "leave out --mode, or write --mode simulate")
      }
    }
    for choice in track where TrackChoice(choice) == nil {
      throw ValidationError("'--track \(choice)' is neither a number nor NODE=NUMBER")
    }
  }

  /// - Throws: `ValidationError`: no command but `replay` makes a live run again.
  func checkMode() throws {
    guard mode != .reproduce else {
      throw ValidationError(
        "only 'retake replay' has --mode reproduce: write every-frame or simulate")
    }
  }

  /// The case that these options and the project describe.
  ///
  /// - Throws: `SuiteError.noPipeline` if no pipeline is named and the project does not have
  ///   exactly one case.
  func definition(in project: Project) throws -> CaseDefinition {
    var definition = try base(in: project)
    if let mode { definition.mode = mode }
    if let seed { definition.seed = seed }
    // After the mode, which most costs change to simulate.
    try applyCosts(to: &definition)
    definition.overrides += overrides.parsed
    let choices = track.compactMap { TrackChoice($0) }
    guard !choices.isEmpty else { return definition }
    // Only now, because a pipeline is read to find its sources, and without --track that is not
    // needed.
    let pipeline = try project.pipeline(definition.pipeline)
    for choice in choices {
      let nodes = choice.nodes(in: pipeline)
      guard !nodes.isEmpty else {
        throw ValidationError("--track goes with a pipeline that reads a session")
      }
      for node in nodes { definition.tracks[node] = choice.track }
    }
    return definition
  }

  private func applyCosts(to definition: inout CaseDefinition) throws {
    if let choice = costs.flatMap({ CostChoice(parsing: $0) }) {
      definition.costs = choice
      // The case's strictness is about its own timings, which are not used now.
      definition.strictCosts = false
      if choice.needsSimulation { definition.mode = .simulate }
    }
    guard strictCosts else { return }
    guard definition.costs.hasTimings, definition.mode == .simulate else {
      throw ValidationError(
        "--strict-costs goes with recorded timings: --costs timings or timings:FILE")
    }
    definition.strictCosts = true
  }

  /// A message about an option that the other options imply.
  var note: String? {
    guard mode == nil, let costs, CostChoice(parsing: costs)?.needsSimulation == true else {
      return nil
    }
    return "note: --costs \(costs) implies --mode simulate"
  }

  private func base(in project: Project) throws -> CaseDefinition {
    guard let pipeline else {
      guard project.cases.count == 1, let only = project.cases.first else {
        throw ValidationError(
          "Say which pipeline: --pipeline FILE, a case's name, or example:motion-boxes"
            + (project.hasFile ? "" : ". There is no retake.yml in \(visible(project.folder))")
            + (project.wayToProject.map { ". \(visible($0))" } ?? ""))
      }
      return only
    }
    if let known = project.definition(named: pipeline) { return known }
    return try project.definition(ofPipeline: pipeline)
  }
}

/// A value of `--mode`.
protocol ModeArgument: ExpressibleByArgument, Sendable {
  static var help: ArgumentHelp { get }
  var mode: RunOptions.Mode { get }
}

/// The modes that decide in virtual time. `reproduce` is read as well, so that `checkMode` can say
/// which command has it.
struct VirtualMode: ModeArgument {
  static let help: ArgumentHelp =
    "every-frame: all frames; simulate: decide drops and delays from costs."
  static let allValueStrings = RunOptions.Mode.virtual.map(\.rawValue)

  let mode: RunOptions.Mode

  init?(argument: String) {
    guard let mode = RunOptions.Mode(rawValue: argument) else { return nil }
    self.mode = mode
  }
}

/// The modes of `retake replay`.
struct ReplayMode: ModeArgument {
  static let help: ArgumentHelp =
    "every-frame: all frames; simulate: drops and delays from costs; reproduce: a live run again."
  static let allValueStrings = RunOptions.Mode.allCases.map(\.rawValue)

  let mode: RunOptions.Mode

  init?(argument: String) {
    guard let mode = RunOptions.Mode(rawValue: argument) else { return nil }
    self.mode = mode
  }
}

/// `--track 3` or `--track camera=3`.
struct TrackChoice {
  var node: String?
  var track: Int

  init?(_ text: String) {
    let parts = text.split(separator: "=", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let last = parts.last, let track = Int(last), track >= 0
    else { return nil }
    self.track = track
    node = parts.count == 2 ? String(parts[0]) : nil
  }

  /// The named source, or every source that reads a session.
  func nodes(in pipeline: Pipeline) -> [String] {
    if let node { return [node] }
    return pipeline.nodes.filter { $0.kind == "session" }.map(\.id)
  }
}
