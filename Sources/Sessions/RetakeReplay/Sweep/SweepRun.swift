package import RetakeBuffers
import RetakeCore
package import RetakeGraph
import RetakeRuntime

/// Makes the decisions of one case repeatedly, with other numbers in its pipeline.
///
/// Values are computed only if decisions depend on them, or if the caller requests them. If bodies
/// can fail, the frames that they fail on are determined once.
package struct SweepRun {
  package var pipeline: Pipeline
  package var reader: (any FrameReader)?
  package var catalog: any StageCatalog
  package var request: Replay.Request
  package var sweep: Sweep
  /// Whether the numbers that reach sinks are compared with the numbers of an every-frame run. All
  /// values are computed for that.
  package var comparesNumbers = false

  package init(
    _ pipeline: Pipeline, reader: (any FrameReader)?, catalog: any StageCatalog,
    request: Replay.Request, sweep: Sweep
  ) {
    self.pipeline = pipeline
    self.reader = reader
    self.catalog = catalog
    self.request = request
    self.sweep = sweep
  }

  /// - Parameter progress: Called with the number of finished runs and the number of all runs.
  /// - Throws: The errors of a run; the `StageFailure` that halted a run, which has no figures of
  ///   later frames; `ReplayError.badSweep` for a part that the pipeline does not have.
  package func run(progress: (Int, Int) -> Void = { _, _ in }) throws -> SweepReport {
    let combinations = sweep.combinations
    // All combinations are checked before the first one runs.
    let replays = try combinations.map { try replay($0) }
    let whole = try comparesNumbers ? everyFrameNumbers() : nil
    // Axes change when bodies run, never their values, so these failures hold for all combinations.
    let failures = try whole == nil ? replays.first?.knownFailures() : nil
    var rows: [SweepReport.Row] = []
    for (values, replay) in zip(combinations, replays) {
      let numbers = whole.map { _ in SinkNumbers() }
      let (figures, outcome) = try replay.decide(failures: failures, numbers: numbers)
      try Self.check(outcome)
      rows.append(
        SweepReport.Row(
          values: values.map(\.description), figures: figures, costs: costs(of: replay, outcome),
          decisionDigest: outcome.decisionDigest,
          numbers: whole.flatMap { numbers?.figures(against: $0) }))
      progress(rows.count, combinations.count)
    }
    return SweepReport(
      session: request.sessionName, caseName: request.caseName, pipeline: pipeline.name,
      seed: request.options.seed,
      axes: sweep.axes.map { .init(name: $0.name, values: $0.values.map(\.description)) },
      rows: rows)
  }

  private func everyFrameNumbers() throws -> SinkNumbers {
    var request = request
    request.options.mode = .everyFrame
    let numbers = SinkNumbers()
    let (_, outcome) = try Replay(pipeline, reader: reader, catalog: catalog, request: request)
      .decide(failures: nil, numbers: numbers)
    try Self.check(outcome)
    return numbers
  }

  private static func check(_ outcome: RunOutcome) throws {
    if let failure = outcome.halt { throw failure }
  }

  private func costs(of replay: Replay, _ outcome: RunOutcome) -> RunSummary.Costs {
    var source = request.options.costs
    source.scale = replay.request.options.costs.scale
    var costs = RunSummary.Costs()
    costs.source = source.text
    costs.recorded = outcome.recordedCosts
    costs.modelled = outcome.modelledCosts
    return costs
  }

  private func replay(_ values: [SweepAxis.Value]) throws -> Replay {
    var pipeline = pipeline
    var request = request
    if let profile = request.options.costs.profile {
      // Swept values override the profile.
      pipeline = profile.applied(to: pipeline)
      request.options.costs.profile?.executors = [:]
      request.options.costs.profile?.pools = [:]
    }
    for (axis, value) in zip(sweep.axes, values) {
      try axis.apply(value, to: &pipeline, &request.options.costs)
    }
    return try Replay(pipeline, reader: reader, catalog: catalog, request: request)
  }
}
