public import Retake

/// The results of a replay that a test made with `Replay.run(_:options:pipeline:)`.
public struct ReplayedRun: Sendable {
  /// The numbers of the run: frames, digests, failures, speed.
  public let summary: RunSummary
  /// The outcome of each captured frame at each sink, in the order of capture.
  public let results: [FrameResult]

  /// The values of a scalar, in the order of capture. Frames that did not reach the sink, and
  /// frames without this scalar, are left out.
  ///
  /// - Parameters:
  ///   - name: The scalar's name, such as `bpm`.
  ///   - sink: The sink's ID; all sinks if `nil`.
  public func scalars(_ name: String, at sink: String? = nil) -> [Double] {
    facts(at: sink).joined().compactMap { fact in
      guard case .scalar(name, let value) = fact else { return nil }
      return value
    }
  }

  /// The detections of each frame that reached the sink, in the order of capture.
  ///
  /// - Parameter sink: The sink's ID; all sinks if `nil`.
  public func detections(at sink: String? = nil) -> [[Detection]] {
    facts(at: sink).map { facts in
      facts.compactMap { fact in
        guard case .detection(let detection) = fact else { return nil }
        return detection
      }
    }
  }

  private func facts(at sink: String?) -> [[ResultFact]] {
    results.flatMap(\.outcomes).filter { sink == nil || $0.sink == sink }.compactMap { outcome in
      guard case .facts(let facts) = outcome.content else { return nil }
      return facts
    }
  }
}

extension Replay {
  /// Replays a session of the suite's project through a pipeline, and returns the results of its
  /// sinks. The test needs the trait `retake`. An expectation in a sink belongs to the test.
  ///
  /// ```swift
  /// let run = try await Replay.run("pulse") { $0.fingertip().pulseRate().results() }
  /// #expect(abs(try #require(run.scalars("rate").last) - 72) < 1)
  /// ```
  ///
  /// - Parameters:
  ///   - session: A session of the project, by its name in Recordings, or its path.
  ///   - options: `every-frame` by default, in which every frame reaches the sinks.
  ///   - pipeline: Makes the pipeline from the frames of the session.
  /// - Throws: The errors of the session, the pipeline and the run, and an error if a stage halts
  ///   it.
  public static func run(
    _ session: String, options: RunOptions = RunOptions(),
    pipeline: (PipelineChain<Frame>) throws -> Pipeline
  ) async throws -> ReplayedRun {
    guard let scope = ReplayScope.current else { throw NoReplayTrait(call: "Replay.run") }
    let pipeline = try pipeline(Pipeline.named("test").source(.session()))
    return try await scope.work { isInterrupted in
      var options = options
      options.isInterrupted = options.isInterrupted ?? isInterrupted
      let results = ResultList()
      let summary = try scope.hosted.replay(
        session, pipeline, options: options, observers: [results])
      if let halt = summary.halt { throw SuiteError.halted(halt) }
      return ReplayedRun(summary: summary, results: results.results)
    }
  }
}

/// Thrown where a test replays and has no project.
struct NoReplayTrait: Error, CustomStringConvertible {
  let call: String

  var description: String {
    "\(call) needs a project. Write: @Suite(.retake()) or @Test(.retake())"
  }
}

/// Keeps the results of a run, without images.
private final class ResultList: RunObserver {
  private(set) var results: [FrameResult] = []

  func finished(_ frame: FinishedFrame) { results.append(frame.result) }
}
