import RetakeCore

/// The times of frames through a pipeline and the loads of its servers, from the declared costs.
///
/// No stage runs: the times are sums, and the loads are products of rates and costs.
package struct PipelineAnalysis: Sendable {
  /// A path from a source to a sink. Its times are sums of declared costs. They do not include
  /// waiting at a join for other branches, or waiting for other frames. Waiting in queues that
  /// stay full at the given rates is separate; the analysis does not cover queues that fill for a
  /// moment.
  package struct Path: Hashable, Sendable {
    /// From the source to the sink; nodes of a body have the form `forEach/node`.
    package var nodes: [String]
    /// Fixed costs, the middle of uniform costs, p50 of the others.
    package var typical: Duration
    /// Fixed costs, the upper end of uniform costs, p99 of the others.
    package var worst: Duration
    /// The additional time in queues that are full at the given rates.
    package var waiting: Duration
  }

  /// When frames arrive at a sink.
  package struct Arrival: Hashable, Sendable {
    package var sink: String
    /// The slowest path. At joins that wait, it is the path whose part arrives last.
    package var path: Path
    /// The number of paths from sources to this sink; a million means a million or more.
    package var pathCount: Int
    package var budget: Duration?

    /// The part of the budget that remains on the slowest path, with slow stages and queues that
    /// stay full; negative if the path exceeds the budget. `nil` without a budget.
    package var headroom: Duration? {
      budget.map { $0 - path.worst - path.waiting }
    }
  }

  /// How busy an executor is.
  package struct Load: Hashable, Sendable {
    /// The executor's ID; for a node with its own executor, the node's ID.
    package var executor: String
    package var isShared: Bool
    package var servers: Int
    package var nodes: [String]
    /// The mean server time for one frame of the source.
    package var timePerFrame: Duration
    /// The fraction of its servers that is busy; 1 = all of them all the time. `nil` without rates.
    package var load: Double?
  }

  /// One for each sink, in the order of the pipeline.
  package var arrivals: [Arrival]
  /// All paths for sinks with few, only the slowest for others; by sink, the slowest first.
  package var paths: [Path]
  /// In the order of the pipeline, declared executors first.
  package var loads: [Load]
  /// Frames per second that each source can deliver without losing any, by its ID. The rates of all
  /// sources are raised by the same factor. Empty if no cost limits them.
  package var sustained: [String: Double]
  /// The executor that limits `sustained`.
  package var bottleneck: String?
  package var warnings: [PipelineWarning]
  /// Facts that need no warning, such as costs that are not declared.
  package var notes: [String]
}

extension Pipeline {
  /// Computes times and loads of a valid pipeline, and reports problems and the changes that fix
  /// them.
  ///
  /// ```swift
  /// let analysis = try pipeline.analyzed(
  ///   AnalysisOptions(framesPerSecond: 30, budget: .milliseconds(33)))
  /// for warning in analysis.warnings { print(warning) }
  /// ```
  ///
  /// - Throws: `PipelineError` for a pipeline that is not valid.
  package func analyzed(
    _ options: AnalysisOptions = AnalysisOptions()
  ) throws -> PipelineAnalysis {
    // The survey does not check the graph itself.
    try validate()
    let survey = try PipelineSurvey(self, options)
    let advisor = Advisor(pipeline: self, options: options)
    var analysis = survey.analysis
    analysis.warnings = survey.complaints.map { advisor.warning($0, survey) }
    if origin == .swift {
      for index in analysis.warnings.indices {
        analysis.warnings[index].part =
          part(at: analysis.warnings[index].pointer) ?? "pipeline '\(name.shortened)'"
      }
    }
    return analysis
  }
}
