package import RetakeReplay
import RetakeRuntime
import RetakeSession
import RetakeStages

/// Live runs that were recorded with a session.
extension ReplayJob {
  /// Reproduces a live run of the session, and writes its trace if one is wanted.
  ///
  /// - Parameters:
  ///   - run: Its number; the newest one if `nil`.
  ///   - hasOwnPipeline: Whether the case's pipeline replaces the recorded one.
  /// - Throws: `SuiteError.nothingSelected` without a session, `SessionError.noLiveRun`, and errors
  ///   of the pipeline and the session.
  package func reproduce(run: Int?, hasOwnPipeline: Bool) throws -> ReproductionReport {
    guard let session else {
      throw SuiteError.nothingSelected("a live run is reproduced from its session")
    }
    try outputs.check(session: session, pipeline: hasOwnPipeline ? pipelineFile : nil)
    let reader = try SessionReader(opening: session)
    let pipeline =
      hasOwnPipeline
      ? try project.pipeline(definition.pipeline) : nil
    // A session may come from anyone: its own pipeline starts no programs.
    let reproduction = try Reproduction(
      reader, run: run, pipeline: pipeline, registry: project.registry.allowing(.never),
      workers: options.workers)
    guard let trace = outputs.trace else { return try follow(reproduction, observer: nil) }
    let file = try RunOutputs.file(trace, .trace)
    do {
      let observer = try TraceObserver(file, of: reproduction, session: reader.folder.name)
      let report = try follow(reproduction, observer: observer)
      try observer.finish()
      return report
    } catch {
      file.discard()
      throw error
    }
  }

  private func follow(
    _ reproduction: Reproduction, observer: (any RunObserver)?
  ) throws -> ReproductionReport {
    try reproduction.run(
      observer: observer, values: .computed, isInterrupted: options.isInterrupted ?? { false }
    ) {
      progress($0, 0)
    }
  }

  /// Compares a replay's decisions with the live decisions, if the replay decides again with the
  /// session's own stage times.
  func liveComparison(_ reader: SessionReader?) throws -> LiveComparison? {
    guard definition.mode == .simulate, let reader, case .session(let run) = definition.costs.source
    else { return nil }
    let known = try reader.liveRuns()
    guard let number = run ?? known.last, known.contains(number) else { return nil }
    // A run may consist of stage times only. Then there are no live decisions to compare with.
    return (try? reader.liveRun(number)).map { LiveComparison($0) }
  }
}
