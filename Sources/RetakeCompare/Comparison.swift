import RetakeCore
import RetakeGraph

/// The outcome of a comparison in one word.
public enum Verdict: String, Hashable, Sendable, Codable, CaseIterable {
  case passed
  case changed
  /// There is no accepted golden, or none for this platform.
  case missing
  /// A golden whose session or case is no longer there.
  case stale
  /// Another session, track, case or quantisation.
  case notComparable = "not comparable"
  /// The job could not be done: a damaged golden, or nothing to compare.
  case errored
}

/// How near the largest error came to what is allowed.
public struct ErrorHeadroom: Hashable, Sendable, Codable {
  public var sink: String
  /// `position`, `score`, `scalar`, `unmatched` or `drift`.
  public var quantity: String
  /// `nil` where an error was no finite number.
  public var largest: Double?
  public var allowed: Double
  /// Where the largest error is; `nil` where there is none.
  public var frame: FrameID?

  public init(
    sink: String, quantity: String, largest: Double?, allowed: Double, frame: FrameID?
  ) {
    self.sink = sink
    self.quantity = quantity
    self.largest = largest
    self.allowed = allowed
    self.frame = frame
  }

  /// The largest error over what is allowed: 0 to 1 is inside; `nil` where nothing is allowed and
  /// something was found.
  public var used: Double? {
    guard let largest else { return nil }
    if largest == 0 { return 0 }
    return allowed > 0 ? largest / allowed : nil
  }
}

/// How many frames were compared, and how they came out.
public struct ComparisonCounts: Hashable, Sendable, Codable {
  public var same = 0
  public var withinTolerance = 0
  public var changed = 0
  /// Frames of the golden that the run has not.
  public var missing = 0
  /// Frames that only the run has.
  public var inserted = 0
  /// Lines of facts that were looked at on the golden's side.
  public var facts = 0
  /// Decision lines that were compared, folded ones as one.
  public var decisions = 0

  public init() {}

  /// Frames that have a partner.
  public var compared: Int { same + withinTolerance + changed }
}

/// A change that somebody marked as known.
public struct KnownChange: Hashable, Sendable, Codable {
  public var id: String
  /// Where it is discussed.
  public var url: String?

  public init(id: String, url: String? = nil) {
    self.id = id
    self.url = url
  }
}

/// A budget of the golden and what the run spent.
public struct BudgetResult: Hashable, Sendable, Codable {
  public var name: String
  public var spent: Int
  public var allowed: Int
  public var unit: Unit

  public enum Unit: String, Hashable, Sendable, Codable {
    case count
    /// Of virtual time, which is exact.
    case nanoseconds
  }

  public init(name: String, spent: Int, allowed: Int, unit: Unit = .count) {
    self.name = name
    self.spent = spent
    self.allowed = allowed
    self.unit = unit
  }
}

/// All that a comparison of one case with its golden says.
public struct Comparison: Hashable, Sendable, Codable {
  /// Findings beyond this number are counted, not kept.
  public static let findingLimit = 10_000

  /// `session/case`.
  public var key: String
  public var verdict: Verdict
  /// The change is marked as known in the golden.
  public var isExpected = false
  /// The marks under which something was found.
  public var known: [KnownChange] = []
  /// In words: why it is missing, not comparable or errored.
  public var reasons: [String] = []
  public var counts = ComparisonCounts()
  public var headroom: [ErrorHeadroom] = []
  public var budgets: [BudgetResult] = []
  /// In the order of the frames; at most `findingLimit`.
  public var findings: [Finding] = []
  /// All of them.
  public var findingCount = 0
  /// Decisions that differ, in the order of virtual time, at most `findingLimit`: also those that
  /// are no finding of their own, for the fate of their frame says the same.
  public var decisions: [Finding] = []
  /// The errors of all compared frames, where there are any.
  public var errorCurves: [ErrorCurve] = []
  /// In the order of the frames: the first is the first divergence.
  public var roots: [RootCause] = []
  /// What is worth knowing and no finding.
  public var notes: [String] = []
  /// Changes of the pipeline, models or libraries that may explain a difference.
  public var suspects: [String] = []
  /// What changed in the pipeline's document, each with a line of `suspects`; empty where the
  /// document of one side was not kept.
  package var pipelineChanges: [PipelineChange] = []

  public init(key: String, verdict: Verdict, reasons: [String] = []) {
    self.key = key
    self.verdict = verdict
    self.reasons = reasons
  }

  /// The earliest (frame, stage) from which differences follow.
  public var firstDivergence: RootCause? { roots.first }

  /// No frame had a partner: a comparison that compared nothing never passes.
  public var comparedNothing: Bool { counts.compared == 0 }
}
