import RetakeCompare
import RetakeCore

/// The document golden.yml: what a golden was made from, how it is compared, and when it was
/// accepted.
public struct GoldenManifest: Hashable, Sendable {
  /// The version that is written. It is also the oldest version.
  public static let version = 1
  /// The most acceptances that are kept.
  public static let acceptedMax = 10

  /// The recorded input. A golden with another digest or other tracks cannot be compared.
  public struct Input: Hashable, Sendable {
    public var session: String
    /// The digest of the selected tracks and of the events.
    public var digest: Digest128
    /// The track of each source node.
    public var tracks: [String: Int]
    public var frames: Int
    /// By track.
    public var timeBase: [Int: TimeBase]

    public init(
      session: String, digest: Digest128, tracks: [String: Int], frames: Int,
      timeBase: [Int: TimeBase]
    ) {
      self.session = session
      self.digest = digest
      self.tracks = tracks
      self.frames = frames
      self.timeBase = timeBase
    }
  }

  public struct Case: Hashable, Sendable {
    public var name: String
    /// The document's path, or `example:NAME`.
    public var pipeline: String
    public var mode: String
    public var costs: String
    public var seed: UInt64
    public var overrides: [String: JSONValue]

    public init(
      name: String, pipeline: String, mode: String, costs: String = "none", seed: UInt64 = 0,
      overrides: [String: JSONValue] = [:]
    ) {
      self.name = name
      self.pipeline = pipeline
      self.mode = mode
      self.costs = costs
      self.seed = seed
      self.overrides = overrides
    }
  }

  /// A changed pipeline is a possible cause, never a verdict.
  public struct PipelineNote: Hashable, Sendable {
    public var name: String
    public var digest: Digest128
    /// In topological order.
    public var nodes: [String]
    /// The sources and stages that each sink depends on, by the sink's id; empty in older goldens.
    public var sinks: [String: [String]]

    public init(
      name: String, digest: Digest128, nodes: [String], sinks: [String: [String]] = [:]
    ) {
      self.name = name
      self.digest = digest
      self.nodes = nodes
      self.sinks = sinks
    }
  }

  /// Limits on the run's own numbers; `nil` means no limit.
  public struct Budgets: Hashable, Sendable {
    /// Dropped frames, at the sink with the most of them.
    public var droppedMax: Int?
    /// The virtual time of the slowest frame from its arrival to its delivery at the primary sink,
    /// in nanoseconds.
    public var latencyMax: Int?
    /// The same for the 99th percentile.
    public var latencyP99: Int?

    public init(droppedMax: Int? = nil, latencyMax: Int? = nil, latencyP99: Int? = nil) {
      self.droppedMax = droppedMax
      self.latencyMax = latencyMax
      self.latencyP99 = latencyP99
    }
  }

  /// Virtual times from arrival to delivery at the primary sink, in nanoseconds.
  public struct Latency: Hashable, Sendable {
    public var max: Int
    /// The 99th percentile (nearest rank).
    public var p99: Int
    /// The first of the slowest frames.
    public var slowest: FrameID

    public init(max: Int, p99: Int, slowest: FrameID) {
      self.max = max
      self.p99 = p99
      self.slowest = slowest
    }
  }

  public struct Summary: Hashable, Sendable {
    /// The number of frames with an F line.
    public var captured: Int
    public var delivered: Int
    /// The number of lines with a fact.
    public var facts: Int
    public var decisions: Int
    public var decisionDigest: Digest128
    public var resultDigest: Digest128
    /// `nil` if there are no virtual costs.
    public var latency: Latency?

    public init(
      captured: Int = 0, delivered: Int = 0, facts: Int = 0, decisions: Int = 0,
      decisionDigest: Digest128 = .zero, resultDigest: Digest128 = .zero
    ) {
      self.captured = captured
      self.delivered = delivered
      self.facts = facts
      self.decisions = decisions
      self.decisionDigest = decisionDigest
      self.resultDigest = resultDigest
    }
  }

  /// One acceptance.
  public struct Acceptance: Hashable, Sendable {
    /// A date, such as 2026-11-21.
    public var at: String
    public var reason: String
    /// Ids of the root causes that were accepted.
    public var roots: [String]
    /// The number of frames that changed.
    public var frames: Int
    public var maxError: Double

    public init(
      at: String, reason: String, roots: [String] = [], frames: Int = 0, maxError: Double = 0
    ) {
      self.at = at
      self.reason = reason
      self.roots = roots
      self.frames = frames
      self.maxError = maxError
    }
  }

  /// A change that is known but not yet accepted.
  public struct Expected: Hashable, Sendable {
    public var id: String
    /// `12..40`, or `0:12..0:40` if there are several tracks; a single frame is `12`.
    public var frames: String
    public var url: String?

    public init(id: String, frames: String, url: String? = nil) {
      self.id = id
      self.frames = frames
      self.url = url
    }
  }

  /// How a tolerance was found: by the largest error of runs under other conditions.
  public struct Fit: Hashable, Sendable {
    /// A date, such as 2026-11-21.
    public var at: String
    public var sink: String
    /// `position`, `score` or `scalar`.
    public var quantity: String
    public var largest: Double
    public var allowed: Double
    /// One entry per run, such as the name of a condition or of a run's folder.
    public var conditions: [String]

    public init(
      at: String, sink: String, quantity: String, largest: Double, allowed: Double,
      conditions: [String]
    ) {
      self.at = at
      self.sink = sink
      self.quantity = quantity
      self.largest = largest
      self.allowed = allowed
      self.conditions = conditions
    }
  }

  public var input: Input
  public var testCase: Case
  public var pipeline: PipelineNote
  /// SHA-256 by the name of the model.
  public var models: [String: String]
  /// By sink.
  public var quantisation: [String: Quantisation]
  public var compare: CompareRules
  public var budgets: Budgets
  public var summary: Summary
  /// The latest is last.
  public var accepted: [Acceptance] = []
  public var expected: [Expected] = []
  /// The evidence for tolerances that were fitted.
  public var fitted: [Fit] = []

  public init(
    input: Input, testCase: Case, pipeline: PipelineNote, models: [String: String] = [:],
    quantisation: [String: Quantisation], compare: CompareRules = CompareRules(),
    budgets: Budgets = Budgets(), summary: Summary = Summary()
  ) {
    self.input = input
    self.testCase = testCase
    self.pipeline = pipeline
    self.models = models
    self.quantisation = quantisation
    self.compare = compare
    self.budgets = budgets
    self.summary = summary
  }

  /// `session/case`.
  public var key: String { "\(input.session)/\(testCase.name)" }
}
