/// The result of a reduction.
package struct ReductionReport: Hashable, Sendable, Codable {
  /// Where the expected results of the reduced session come from.
  package enum Base: String, Hashable, Sendable, Codable {
    /// The golden's own pipeline, run over the span.
    case pipeline
    /// The pipeline and the inputs of a git revision, run over the span.
    case revision
    /// The golden's stored results, because no pipeline makes them again.
    case results
  }

  /// `session/case`.
  package var key: String
  /// The id in the full session.
  package var rootCause: String
  /// The id in the reduced session, which begins at another frame.
  package var reducedRootCause: String
  package var base: Base
  /// Frames of the full session that the case reads.
  package var wholeFrames: Int
  package var wholeSeconds: Double
  package var frames: Int
  /// From the presentation time of the first frame to the last frame's.
  package var seconds: Double
  /// Where the span begins, in seconds after the session's first frame.
  package var fromSeconds: Double
  package var tracks: [Int]
  /// Sinks of the pipeline that are left out, with the nodes that only they need.
  package var sinksLeftOut: [String]
  /// Spans and branches that were tried.
  package var probes: Int
  /// Replays of all kinds: of the full session and of probes, for both sides.
  package var replays: Int
  /// The size of the new folder.
  package var bytes: Int
  /// Absolute.
  package var folder: String
  /// Shows the root cause.
  package var command: String
  package var notes: [String] = []
}
