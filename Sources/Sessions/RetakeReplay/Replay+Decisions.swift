import RetakeRuntime

/// Runs that only produce decisions.
extension Replay {
  /// An observer that computes the key figures of a run, for this pipeline's primary sink.
  package func makeFigures() -> RunFigures {
    var bytes: [Int: Int] = [:]
    for track in prepared.trackDescriptions {
      bytes[track.track] = track.frameBytes
    }
    return RunFigures(primarySink: pipeline.primarySink ?? "", frameBytes: bytes)
  }

  /// The bodies that fail, if the decisions depend on no other property of the values; `nil` if
  /// they depend on the values themselves.
  func knownFailures() throws -> [BodyFailure: String]? {
    // With a swap, another stage may fail for other frames.
    guard !request.overrides.contains(where: { !$0.isEvent }) else { return nil }
    switch prepared.valueNeed {
    case .nothing: return [:]
    case .values: return nil
    case .failures:
      var options = runOptions
      options.cache = nil
      // Every frame goes through every stage there, so the failures of all frames are found, also
      // of frames that some combinations drop.
      options.mode = .everyFrame
      let notes = FailureNotes()
      _ = try prepared.forFailures.run(options, observer: notes)
      return notes.isIncomplete ? nil : notes.failures
    }
  }

  /// Makes the decisions and computes only the values that they need: no values if the failures are
  /// known.
  ///
  /// - Parameter numbers: Receives the numbers that reach sinks. Without known failures, all values
  ///   are computed for it.
  func decide(
    failures: [BodyFailure: String]?, numbers: SinkNumbers? = nil
  ) throws -> (figures: RunFigures.Totals, outcome: RunOutcome) {
    let figures = makeFigures()
    let run = failures.map { prepared.withoutValues(failures: $0) } ?? prepared.withSilentSinks
    let observers: [any RunObserver] = [figures] + (numbers.map { [$0] } ?? [])
    var options = runOptions
    // Bodies without a computation have the keys of the bodies that they replace.
    options.cache = nil
    let outcome = try run.run(options, observer: ObserverGroup(observers))
    return (figures.totals, outcome)
  }
}
