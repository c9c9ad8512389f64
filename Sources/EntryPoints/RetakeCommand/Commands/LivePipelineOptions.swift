import ArgumentParser
import Retake

/// A pipeline that runs on the frames of a recording.
struct LivePipelineOptions: ParsableArguments {
  @Option(
    name: [.short, .long],
    help: "A pipeline that runs live on the recorded frames: a file, a case, or example:NAME.")
  var pipeline: String?

  @Option(
    help: ArgumentHelp(
      "A second pipeline; the ring of --pre-trigger keeps the moments at which the two disagree.",
      discussion: "The measure is that of 'retake find --disagree'. Several moments can be kept."))
  var shadow: String?

  @Option(
    help: ArgumentHelp(
      "When a moment is kept: disagree=1,frames=3,after=5s,cooldown=60s if not given.",
      discussion: """
        disagree: the measure from which on a frame counts; frames: compared frames in a row; \
        after: time that is kept after the first of them; cooldown: time between two moments.
        """))
  var trigger: String?

  @OptionGroup var programs: ProgramOptions

  @Option(
    parsing: .unconditional,
    help: "Threads that compute for the pipeline; 2 to 4 by the machine if not given.",
    transform: Bounded.any())
  var workers: Int?

  @Flag(
    help: "Stream the results as JSON lines, one a captured frame; the summary is the last line.")
  var follow = false

  @Option(
    help: "Write the JSON lines of a metadata sink: NODE=FILE, or FILE if there is only one.")
  var metadata: [String] = []

  @Option(
    help: ArgumentHelp(
      "Write a trace of the pipeline's decisions to this file, for ui.perfetto.dev.",
      discussion: "It is made of the decisions in the session, when the recording has ended."))
  var trace: String?

  func validate() throws {
    let given = [
      ("--shadow", shadow != nil), ("--workers", workers != nil), ("--follow", follow),
      ("--metadata", !metadata.isEmpty),
      ("--trace", trace != nil), ("--allow-processes", programs.allowProcesses),
      ("--show-programs", programs.showPrograms),
    ]
    if pipeline == nil, let (name, _) = given.first(where: { $0.1 }) {
      throw ValidationError("\(name) goes with --pipeline")
    }
    try checkShadow()
    do {
      try outputs.check()
    } catch let error as SuiteError {
      throw ValidationError(error.description)
    }
    let range = LiveOptions.workersRange
    if let workers, !range.contains(workers) {
      throw ValidationError(
        "'--workers \(workers)' is not between \(range.lowerBound) and \(range.upperBound): a live "
          + "pipeline needs worker threads besides the thread that decides (0 is for replay only)")
    }
  }

  func makePipeline() throws -> LivePipeline? {
    guard let name = pipeline else { return nil }
    let environment = CommandEnvironment.current
    return LivePipeline(
      try programs.project().pipeline(name), registry: environment.registry,
      options: LiveOptions(workers: workers))
  }

  private func checkShadow() throws {
    guard shadow != nil else {
      if trigger != nil { throw ValidationError("--trigger goes with --shadow") }
      return
    }
    _ = try disagreement
    let lines = [
      ("--follow", follow), ("--metadata", !metadata.isEmpty), ("--trace", trace != nil),
    ]
    if let (name, _) = lines.first(where: \.1) {
      throw ValidationError(
        "\(name) does not go with --shadow: the session has only the kept frames, and numbers them "
          + "again")
    }
  }

  private var disagreement: DisagreementTrigger {
    get throws { try trigger.map { try DisagreementTrigger(parsing: $0) } ?? DisagreementTrigger() }
  }

  /// The shadow pipeline, compared with the first one.
  func makeShadow(of first: LivePipeline?) throws -> ShadowPipeline? {
    guard let shadow, let first, let pipeline else { return nil }
    var options = LiveOptions(workers: workers)
    // The recording and the first pipeline have priority, and the end waits for both pipelines.
    options.niceness = LiveOptions.nicenessBelowPreview
    options.drain = .milliseconds(500)
    let live = LivePipeline(
      try programs.project().pipeline(shadow), registry: CommandEnvironment.current.registry,
      options: options)
    return try ShadowMeasure.shadow(
      live, of: first, names: (pipeline, shadow), trigger: try disagreement)
  }

  /// The file that the pipeline is read from, if it is read from one.
  var pipelineFile: String? {
    guard let pipeline else { return nil }
    // An invalid project is reported by `makePipeline`, which is called first.
    return (try? CommandEnvironment.current.project())?.pipelineFile(of: pipeline)
  }

  /// The outputs of the pipeline during and after the recording.
  var outputs: RunOutputs {
    var outputs = RunOutputs()
    outputs.follows = follow
    outputs.metadata = metadata.map { MetadataOutput(parsing: $0) }
    outputs.trace = trace
    return outputs
  }
}
