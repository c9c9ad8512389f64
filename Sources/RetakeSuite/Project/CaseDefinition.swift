import RetakeCompare
import RetakeCore
import RetakeRuntime

/// How a session is replayed: one entry of `cases` in retake.yml.
public struct CaseDefinition: Hashable, Sendable {
  public var name: String
  /// A file relative to the project's folder, or `example:NAME`.
  public var pipeline: String
  public var mode: RunOptions.Mode = .lossless
  public var seed: UInt64 = 0
  /// Track by source node.
  public var tracks: [String: Int] = [:]
  /// Quanta by sink and field, over what the results node says.
  public var quantisation: [String: [String: Double]] = [:]

  public init(name: String, pipeline: String) {
    self.name = name
    self.pipeline = pipeline
  }

  /// Where virtual costs come from, as golden files say it.
  public var costs: String { mode == .lossless ? "none" : "declared" }
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
