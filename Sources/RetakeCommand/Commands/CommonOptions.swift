import ArgumentParser
import Retake

/// Flags that every command has.
struct OutputOptions: ParsableArguments {
  @Flag(name: .long, help: "Print the result as JSON.")
  var json = false

  @Flag(name: [.customShort("q"), .long], help: "Say nothing but results and errors.")
  var quiet = false

  /// Says something that is no result, unless it shall be quiet.
  func note(_ text: String) {
    if !quiet { Console.note(text) }
  }
}

/// What makes a case: for `replay`, `test` and `verify` of one session.
struct CaseOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: "A pipeline: a JSON file, a case of retake.yml, or example:NAME.")
  var pipeline: String?

  @Option(name: .long, help: "lossless: every frame; redecide: decide again from declared costs.")
  var mode: RunOptions.Mode?

  @Option(name: .long, help: "Where virtual costs come from in redecide: declared.")
  var costs: String?

  @Option(name: .long, help: "Seeds the draws of costs.")
  var seed: UInt64?

  @Option(
    name: .long,
    help: "The track to read: a number, or NODE=NUMBER for a pipeline with several sources.")
  var track: [String] = []

  func validate() throws {
    if let costs, costs != "declared" {
      throw ValidationError("'--costs \(costs)' cannot be used here. Known: declared")
    }
    for choice in track where TrackChoice(choice) == nil {
      throw ValidationError("'--track \(choice)' is neither a number nor NODE=NUMBER")
    }
  }

  /// The case that these options and the project describe.
  ///
  /// - Throws: `SuiteError.noPipeline` when no pipeline is named and the project has not one case.
  func definition(in project: Project) throws -> CaseDefinition {
    var definition = try base(in: project)
    if let mode { definition.mode = mode }
    if let seed { definition.seed = seed }
    let choices = track.compactMap { TrackChoice($0) }
    guard !choices.isEmpty else { return definition }
    let environment = CommandEnvironment.current
    let pipeline = try project.pipeline(
      definition.pipeline, catalog: environment.registry, given: environment.pipelines)
    for choice in choices {
      let nodes = choice.nodes(in: pipeline)
      guard !nodes.isEmpty else {
        throw ValidationError("--track goes with a pipeline that reads a session")
      }
      for node in nodes { definition.tracks[node] = choice.track }
    }
    return definition
  }

  private func base(in project: Project) throws -> CaseDefinition {
    guard let pipeline else {
      guard project.cases.count == 1, let only = project.cases.first else {
        throw ValidationError(
          "Say which pipeline: --pipeline FILE, a case's name, or example:motion-boxes")
      }
      return only
    }
    if let known = project.definition(named: pipeline) { return known }
    return try project.definition(
      ofPipeline: pipeline, catalog: CommandEnvironment.current.registry,
      given: CommandEnvironment.current.pipelines)
  }
}

extension RunOptions.Mode: ExpressibleByArgument {}

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
