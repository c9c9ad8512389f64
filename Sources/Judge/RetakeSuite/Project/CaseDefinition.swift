package import RetakeReplay
package import RetakeRuntime

/// How a session is replayed: one entry of `cases` in retake.yml.
package struct CaseDefinition: Hashable, Sendable {
  package var name: String
  /// A file relative to the project's folder, `example:NAME`, or the name of a `ProgramPipeline`.
  package var pipeline: String
  package var mode: RunOptions.Mode = .everyFrame
  /// The source of virtual costs. The mode `every-frame` has no costs.
  package var costs = CostChoice.declared
  /// Whether a cost that the timings do not have is an error.
  package var strictCosts = false
  package var seed: UInt64 = 0
  /// The track of each source node.
  package var tracks: [String: Int] = [:]
  /// Steps by sink and field. They replace the steps of the results node.
  package var precision: [String: [String: Double]] = [:]
  /// Events in addition to the events of the session.
  package var overrides: [CaseOverride] = []
  /// A source whose frames replace the frames of the session; the case then reads no session.
  package var source: SourceChoice?

  package init(name: String, pipeline: String) {
    self.name = name
    self.pipeline = pipeline
  }
}
