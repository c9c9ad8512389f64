import RetakeCore
import RetakeGraph

/// One case of the run: a session replayed through a pipeline, and compared with its golden.
package struct ReportCase: Hashable, Sendable, Codable {
  package var session: String
  /// The name of the case: written as `case`.
  package var name: String
  package var pipeline: String
  package var mode: String
  package var verdict: ReportVerdict
  /// Set where golden.yml marks a change as known.
  package var expected: ExpectedMark?
  /// One sentence: why this verdict.
  package var reason: String
  package var counts = ComparedCounts()
  /// What was looked at, each with a verdict of its own; JUnit has one test case for each.
  package var checks: [ReportCheck] = []
  package var headroom: [Headroom] = []
  package var budgets: [ReportBudget] = []
  package var ledgers: [LedgerPair] = []
  package var decisionDigest: TextPair?
  package var resultDigest: TextPair?
  package var tracks: [ReportTrack] = []
  package var graph: ReportGraph?
  package var rootCauses: [ReportRootCause] = []
  package var findings = Excerpt<ReportFinding>()
  package var pictures: [ReportPicture] = []
  package var timelines: [ReportTimeline] = []
  package var decisions: DecisionDifferences?
  /// Things that changed beside the results and may be the cause; never a verdict.
  package var suspects: [ReportSuspect] = []
  /// What golden.yml allows, by sink.
  package var tolerances: [ReportTolerance] = []
  /// Who took the golden that was compared with, and why: the latest acceptance.
  package var accepted: ReportAcceptance?
  /// Tells the result that was left pending from any other one; `nil` where none was.
  package var pending: String?
  package var error: ReportProblem?
  package var notes: [String] = []
  package var commands: [ReportCommand] = []
  package var run: ReportRun?

  private enum CodingKeys: String, CodingKey {
    case session, name = "case", pipeline, mode, verdict, expected, reason, counts, checks
    case headroom, budgets, ledgers, decisionDigest, resultDigest, tracks, graph, rootCauses
    case findings, pictures, timelines, decisions, suspects, tolerances, accepted, pending, error
    case notes, commands, run
  }

  package init(
    session: String, name: String, pipeline: String, mode: String, verdict: ReportVerdict,
    reason: String
  ) {
    self.session = session
    self.name = name
    self.pipeline = pipeline
    self.mode = mode
    self.verdict = verdict
    self.reason = reason
  }

  /// `"yard/motion"`.
  package var title: String { "\(session)/\(name)" }
}

/// A change that somebody has said is known.
package struct ExpectedMark: Hashable, Sendable, Codable {
  package var id: String
  package var url: String?

  package init(id: String, url: String? = nil) {
    self.id = id
    self.url = url
  }
}

/// The rule by which the results of one sink are compared, in words.
package struct ReportTolerance: Hashable, Sendable, Codable {
  package var sink: String
  package var rule: String

  package init(sink: String, rule: String) {
    self.sink = sink
    self.rule = rule
  }
}

/// An entry of golden.yml's list of acceptances.
package struct ReportAcceptance: Hashable, Sendable, Codable {
  /// A date, such as 2026-11-21.
  package var at: String
  package var reason: String

  package init(at: String, reason: String) {
    self.at = at
    self.reason = reason
  }
}

/// How many frames were compared, and what came of it.
package struct ComparedCounts: Hashable, Sendable, Codable {
  package var compared: Int
  package var same: Int
  /// Different, but not by more than is allowed.
  package var withinTolerance: Int
  package var changed: Int

  package init(compared: Int = 0, same: Int = 0, withinTolerance: Int = 0, changed: Int = 0) {
    self.compared = compared
    self.same = same
    self.withinTolerance = withinTolerance
    self.changed = changed
  }
}

/// One thing that was looked at in a case, such as `results` or `decisions`.
package struct ReportCheck: Hashable, Sendable, Codable {
  package var name: String
  package var verdict: ReportVerdict
  package var message: String

  package init(_ name: String, _ verdict: ReportVerdict, _ message: String = "") {
    self.name = name
    self.verdict = verdict
    self.message = message
  }
}

/// The largest error of one measure over what is allowed.
package struct Headroom: Hashable, Sendable, Codable {
  /// Such as `boxes.position`.
  package var measure: String
  package var largest: Double
  package var allowed: Double
  package var unit: String?
  /// Where the largest error was.
  package var frame: FrameID?

  package init(
    measure: String, largest: Double, allowed: Double, unit: String? = nil, frame: FrameID? = nil
  ) {
    self.measure = measure
    self.largest = largest
    self.allowed = allowed
    self.unit = unit
    self.frame = frame
  }

  /// The share of the allowance that was used up; nil where nothing is allowed.
  package var used: Double? { allowed > 0 && largest.isFinite ? largest / allowed : nil }
}

/// A limit that the golden sets on a number of the run.
package struct ReportBudget: Hashable, Sendable, Codable {
  package var name: String
  package var limit: Double
  package var actual: Double
  package var unit: String?
  package var met: Bool

  package init(name: String, limit: Double, actual: Double, unit: String? = nil, met: Bool) {
    self.name = name
    self.limit = limit
    self.actual = actual
    self.unit = unit
    self.met = met
  }
}

/// A text of the golden and its counterpart of the run.
package struct TextPair: Hashable, Sendable, Codable {
  package var golden: String?
  package var actual: String?

  package init(golden: String?, actual: String?) {
    self.golden = golden
    self.actual = actual
  }
}

/// A track that the case reads.
package struct ReportTrack: Hashable, Sendable, Codable {
  package var track: Int
  /// In pixels; boxes are given in these, wherever in the pipeline they were found.
  package var width: Int
  package var height: Int
  package var frames: Int
  package var timeBase: TimeBase?

  package init(track: Int, width: Int, height: Int, frames: Int, timeBase: TimeBase? = nil) {
    self.track = track
    self.width = width
    self.height = height
    self.frames = frames
    self.timeBase = timeBase
  }

  private enum CodingKeys: String, CodingKey { case track, width, height, frames, timeBase }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    track = try container.decode(Int.self, forKey: .track)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    frames = try container.decode(Int.self, forKey: .frames)
    timeBase = try container.decodeIfPresent(String.self, forKey: .timeBase)
      .flatMap { TimeBase(parsing: $0) }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(track, forKey: .track)
    try container.encode(width, forKey: .width)
    try container.encode(height, forKey: .height)
    try container.encode(frames, forKey: .frames)
    try container.encodeIfPresent(timeBase?.description, forKey: .timeBase)
  }
}

/// Something that changed beside the results, such as an option of the pipeline or a library.
package struct ReportSuspect: Hashable, Sendable, Codable {
  /// Those that are told in a text; the document has all.
  static let shownMax = 15

  /// `pipeline`, or `change` for all else.
  package var kind: String
  package var text: String
  /// Of the pipeline, what kind of change: `option`, `nodeAdded`, `queue` …
  package var change: String?
  /// Of the pipeline, where it changed: `motion.threshold`.
  package var place: String?
  package var golden: String?
  package var actual: String?

  package init(kind: String, text: String, golden: String? = nil, actual: String? = nil) {
    self.kind = kind
    self.text = text
    self.golden = golden
    self.actual = actual
  }

  init(_ change: PipelineChange) {
    self.init(
      kind: "pipeline", text: change.suspicion, golden: change.old, actual: change.new)
    self.change = change.kind.rawValue
    place = change.place
  }
}

/// How the case was run.
package struct ReportRun: Hashable, Sendable, Codable {
  package var workers: Int
  package var wallSeconds: Double
  package var framesPerSecond: Double
  /// Costs from a tape, and costs that were declared or drawn.
  package var costsRecorded: Int
  package var costsModelled: Int
  /// Where costs of a live run's tape decided again: how faithful the model is.
  package var live: RunSummary.LiveAgreement?

  package init(
    workers: Int, wallSeconds: Double, framesPerSecond: Double, costsRecorded: Int = 0,
    costsModelled: Int = 0
  ) {
    self.workers = workers
    self.wallSeconds = wallSeconds
    self.framesPerSecond = framesPerSecond
    self.costsRecorded = costsRecorded
    self.costsModelled = costsModelled
  }
}
