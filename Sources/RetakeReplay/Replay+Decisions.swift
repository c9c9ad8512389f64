import RetakeCore
import RetakeGraph
import RetakeRuntime

/// Runs for the sake of their decisions.
extension Replay {
  /// Counts what a run's decisions mean, for this pipeline's primary sink.
  public func makeFigures() -> RunFigures {
    var bytes: [Int: Int] = [:]
    for track in prepared.trackDescriptions {
      bytes[track.track] = track.frameBytes
    }
    return RunFigures(primarySink: pipeline.primarySink ?? "", frameBytes: bytes)
  }

  /// Which bodies fail, where decisions need to know nothing more of the values; `nil` where they
  /// need the values themselves.
  func knownFailures() throws -> [BodyFailure: String]? {
    // Another stage may fail for other frames.
    guard !request.overrides.contains(where: { !$0.isEvent }) else { return nil }
    switch prepared.valueNeed {
    case .nothing: return [:]
    case .values: return nil
    case .failures:
      var options = runOptions
      options.mode = .lossless
      let notes = FailureNotes()
      _ = try prepared.forFailures.run(options, observer: notes)
      return notes.isIncomplete ? nil : notes.failures
    }
  }

  /// Decides, with the values that are needed for it: none where the failures are known.
  func decide(
    failures: [BodyFailure: String]?
  ) throws -> (figures: RunFigures.Totals, outcome: RunOutcome) {
    let figures = makeFigures()
    let run = failures.map { prepared.withoutValues(failures: $0) } ?? prepared.withSilentSinks
    let outcome = try run.run(runOptions, observer: figures)
    return (figures.totals, outcome)
  }
}
