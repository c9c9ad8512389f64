import RetakeCore

/// How long frames take through a pipeline and how busy its servers are, from the declared costs.
///
/// Nothing runs: the times are sums, and the loads are products of rates and costs.
public struct PipelineAnalysis: Sendable {
  /// A way from a source to a sink. Its times are sums of declared costs; waiting for other branches
  /// at a join is not in them, waiting in full queues is apart.
  public struct Path: Hashable, Sendable {
    /// From the source to the sink; nodes of a body are `forEach/node`.
    public var nodes: [String]
    /// Fixed costs, the middle of uniform ones, p50 of the others.
    public var typical: Duration
    /// Fixed costs, the upper end of uniform ones, p99 of the others.
    public var worst: Duration
    /// What the queues add that are full at the given rates.
    public var waiting: Duration
  }

  /// When frames come to a sink.
  public struct Arrival: Hashable, Sendable {
    public var sink: String
    /// The slowest way; at joins that wait it is the one whose part comes last.
    public var path: Path
    /// Ways from sources to this sink; a million stands for more.
    public var pathCount: Int
    public var budget: Duration?
  }

  /// How busy an executor is.
  public struct Load: Hashable, Sendable {
    /// The executor's id; of a node with an executor of its own the node's.
    public var executor: String
    public var isShared: Bool
    public var servers: Int
    public var nodes: [String]
    /// The servers' time that one frame of the source takes, as a mean.
    public var timePerFrame: Duration
    /// The part of its servers that is busy; 1 = all of them all the time. `nil` without rates.
    public var load: Double?
  }

  /// One for each sink, in the order of the pipeline.
  public var arrivals: [Arrival]
  /// All of them for sinks with few, for others the slowest; by sink, the slowest first.
  public var paths: [Path]
  /// In the order of the pipeline, declared executors first.
  public var loads: [Load]
  /// Frames a second that each source can give without losing any, by its id, all sources rising
  /// alike; empty where no cost limits them.
  public var sustained: [String: Double]
  /// The executor that limits `sustained`.
  public var bottleneck: String?
  public var warnings: [PipelineWarning]
  /// Facts that are no warning, such as costs that are not declared.
  public var notes: [String]
}

extension Pipeline {
  /// Sums up times and loads of a valid pipeline, and says what will disappoint and what to change.
  ///
  /// ```swift
  /// let analysis = try pipeline.analyzed(
  ///   AnalysisOptions(framesPerSecond: 30, budget: .milliseconds(33)))
  /// for warning in analysis.warnings { print(warning) }
  /// ```
  ///
  /// - Throws: `PipelineError` for a pipeline that is not valid.
  public func analyzed(
    _ options: AnalysisOptions = AnalysisOptions()
  ) throws(PipelineError) -> PipelineAnalysis {
    try validate()
    let survey = try PipelineSurvey(self, options)
    let advisor = Advisor(pipeline: self, options: options)
    var analysis = survey.analysis
    analysis.warnings = survey.complaints.map { advisor.warning($0, survey) }
    return analysis
  }
}
