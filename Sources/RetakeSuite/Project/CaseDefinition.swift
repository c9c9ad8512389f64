import RetakeCompare
import RetakeCore
import RetakeReplay
import RetakeRuntime

/// How a session is replayed: one entry of `cases` in retake.yml.
public struct CaseDefinition: Hashable, Sendable {
  public var name: String
  /// A file relative to the project's folder, or `example:NAME`.
  public var pipeline: String
  public var mode: RunOptions.Mode = .lossless
  /// Where virtual costs come from; `lossless` uses none.
  public var costs = CostChoice.declared
  /// Whether a cost that the tape does not have is an error.
  public var strictCosts = false
  public var seed: UInt64 = 0
  /// The track of each source node.
  public var tracks: [String: Int] = [:]
  /// Quanta by sink and field. They replace those of the results node.
  public var quantisation: [String: [String: Double]] = [:]
  /// Events in addition to those of the session.
  public var overrides: [CaseOverride] = []

  public init(name: String, pipeline: String) {
    self.name = name
    self.pipeline = pipeline
  }
}

/// Which sessions run which cases: one line of a suite.
public struct SuiteEntry: Hashable, Sendable {
  /// Names, or globs with `*` and `?`.
  public var sessions: [String]
  public var cases: [String]

  public init(sessions: [String], cases: [String]) {
    self.sessions = sessions
    self.cases = cases
  }
}
