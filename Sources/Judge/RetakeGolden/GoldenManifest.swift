package import RetakeCompare
package import RetakeCore
package import RetakeGraph

/// The document golden.yml: the inputs of a golden, the rules of its comparison, and its
/// acceptances.
package struct GoldenManifest: Hashable, Sendable {
  /// The version that is written. It is also the oldest version.
  package static let version = 1
  /// The most acceptances that are kept.
  package static let acceptedMax = 10

  /// The recorded input. A golden with another digest or other tracks cannot be compared.
  package struct Input: Hashable, Sendable {
    package var session: String
    /// The digest of the selected tracks and of the events.
    package var digest: Digest128
    /// The track of each source node.
    package var tracks: [String: Int]
    package var frames: Int
    /// By track.
    package var timeBase: [Int: TimeBase]

    package init(
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

  package struct Case: Hashable, Sendable {
    package var name: String
    /// The document's path, or `example:NAME`.
    package var pipeline: String
    package var mode: String
    package var costs: String
    package var seed: UInt64
    package var overrides: [String: JSONValue]

    package init(
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
  package struct PipelineNote: Hashable, Sendable {
    package var name: String
    package var digest: Digest128
    /// In topological order.
    package var nodes: [String]
    /// The sources and stages that each sink depends on, by the sink's id; empty in older goldens.
    package var sinks: [String: [String]]

    package init(
      name: String, digest: Digest128, nodes: [String], sinks: [String: [String]] = [:]
    ) {
      self.name = name
      self.digest = digest
      self.nodes = nodes
      self.sinks = sinks
    }
  }

  /// Limits on the run's own numbers; `nil` means no limit.
  package struct Budgets: Hashable, Sendable {
    /// Dropped frames, at the sink with the most of them.
    package var droppedMax: Int?
    /// The virtual time of the slowest frame from its arrival to its delivery at the primary sink,
    /// in nanoseconds.
    package var latencyMax: Int?
    /// The same for the 99th percentile.
    package var latencyP99: Int?
    /// Limits on the metrics of the session's labels.
    package var labels: [LabelMetric: LabelBudget] = [:]

    package init(droppedMax: Int? = nil, latencyMax: Int? = nil, latencyP99: Int? = nil) {
      self.droppedMax = droppedMax
      self.latencyMax = latencyMax
      self.latencyP99 = latencyP99
    }
  }

  /// Virtual times from arrival to delivery at the primary sink, in nanoseconds.
  package struct Latency: Hashable, Sendable {
    package var max: Int
    /// The 99th percentile (nearest rank).
    package var p99: Int
    /// The first of the slowest frames.
    package var slowest: FrameID

    package init(max: Int, p99: Int, slowest: FrameID) {
      self.max = max
      self.p99 = p99
      self.slowest = slowest
    }
  }

  /// Frames that the session calls damaged. They fail at their source, so that no stage reads their
  /// pixels.
  package struct Damage: Hashable, Sendable, Codable {
    /// How many there are.
    package var frames: Int
    package var first: FrameID
    package var last: FrameID

    package init(frames: Int = 1, first: FrameID, last: FrameID) {
      self.frames = frames
      self.first = first
      self.last = last
    }

    /// `37 of 98 frames are damaged in the session and have no results: 0:10 to 0:46`.
    package func text(of captured: Int) -> String {
      let isOne = frames == 1
      return "\(frames) of \(captured) \(captured == 1 ? "frame" : "frames") "
        + (isOne ? "is damaged in the session and has" : "are damaged in the session and have")
        + " no results: \(isOne ? "\(first)" : span)"
    }

    private var span: String {
      let isWhole = first.track == last.track && last.sequence - first.sequence == frames - 1
      return isWhole ? "\(first) to \(last)" : "between \(first) and \(last)"
    }
  }

  package struct Summary: Hashable, Sendable {
    /// The number of frames with an F line.
    package var captured = 0
    package var delivered = 0
    /// The number of lines with a fact.
    package var facts = 0
    package var decisions = 0
    package var decisionDigest = Digest128.zero
    package var resultDigest = Digest128.zero
    /// `nil` if there are no virtual costs.
    package var latency: Latency?
    /// `nil` if the session calls no frame damaged.
    package var damaged: Damage?
  }

  /// An entry of the list of acceptances.
  package struct Acceptance: Hashable, Sendable {
    /// A date, such as 2026-11-21.
    package var at: String
    package var reason: String
    /// Ids of the root causes that were accepted.
    package var rootCauses: [String]
    /// The number of frames that changed.
    package var frames: Int
    package var maxError: Double

    package init(
      at: String, reason: String, rootCauses: [String] = [], frames: Int = 0, maxError: Double = 0
    ) {
      self.at = at
      self.reason = reason
      self.rootCauses = rootCauses
      self.frames = frames
      self.maxError = maxError
    }
  }

  /// A change that is known but not yet accepted.
  package struct Expected: Hashable, Sendable {
    package var id: String
    /// `12..40`, or `0:12..0:40` if there are several tracks; a single frame is `12`.
    package var frames: String
    package var url: String?

    package init(id: String, frames: String, url: String? = nil) {
      self.id = id
      self.frames = frames
      self.url = url
    }
  }

  /// How a tolerance was found: by the largest error of runs under other conditions.
  package struct Fit: Hashable, Sendable {
    /// A date, such as 2026-11-21.
    package var at: String
    package var sink: String
    /// `position`, `score`, `scalar`, `mask` or `embedding`.
    package var quantity: String
    package var largest: Double
    package var allowed: Double
    /// An entry per run, such as the name of a condition or of a run's folder.
    package var conditions: [String]
    /// The devices of the runs, by stage, if the error is the noise between them and the golden's:
    /// then the tolerance applies to runs on these devices alone. Empty for any other fit.
    package var devices: [String: ModelDevice] = [:]

    package init(
      at: String, sink: String, quantity: String, largest: Double, allowed: Double,
      conditions: [String], devices: [String: ModelDevice] = [:]
    ) {
      self.devices = devices
      self.at = at
      self.sink = sink
      self.quantity = quantity
      self.largest = largest
      self.allowed = allowed
      self.conditions = conditions
    }
  }

  package var input: Input
  package var testCase: Case
  package var pipeline: PipelineNote
  /// SHA-256 by the name of the model.
  package var models: [String: String]
  /// The device of each stage whose model the processor does not compute.
  package var devices: [String: ModelDevice] = [:]
  /// SHA-256 by the path of a file that the command of a program names. Empty for goldens that were
  /// accepted before this property existed.
  package var programs: [String: String] = [:]
  /// SHA-256 by the path of a file whose stored results a stage returns; empty without one.
  package var files: [String: String] = [:]
  /// The digest of the session's labels when the golden was made; `nil` without labels.
  package var labels: Digest128?
  /// By sink.
  package var precision: [String: Precision]
  package var compare: CompareRules
  package var budgets: Budgets
  package var summary: Summary
  /// The latest is last.
  package var accepted: [Acceptance] = []
  package var expected: [Expected] = []
  /// The evidence for tolerances that were fitted.
  package var fitted: [Fit] = []

  package init(
    input: Input, testCase: Case, pipeline: PipelineNote, models: [String: String] = [:],
    precision: [String: Precision], compare: CompareRules = CompareRules(),
    budgets: Budgets = Budgets(), summary: Summary = Summary()
  ) {
    self.input = input
    self.testCase = testCase
    self.pipeline = pipeline
    self.models = models
    self.precision = precision
    self.compare = compare
    self.budgets = budgets
    self.summary = summary
  }

  /// Files of programs that both runs have, with other contents in this run; in byte order.
  ///
  /// If only one run names a file, the file did not change: the commands differ, and so do the
  /// pipelines.
  package func changedPrograms(since golden: GoldenManifest) -> [String] {
    Self.changes(programs, golden.programs)
  }

  /// The same for files of stored results.
  package func changedFiles(since golden: GoldenManifest) -> [String] {
    Self.changes(files, golden.files)
  }

  private static func changes(_ new: [String: String], _ old: [String: String]) -> [String] {
    new.filter { path, digest in old[path].map { $0 != digest } ?? false }.keys.sorted()
  }

  /// The name of this machine for a result with these models and devices.
  package var platform: String {
    PlatformKey.current(models: models, devices: devices).description
  }

  /// `session/case`.
  package var key: String { "\(input.session)/\(testCase.name)" }
}
