/// The outcomes of one captured frame of a live run, at all sinks.
public struct LiveResult: Sendable {
  /// The frame with its outcomes. `pictures` and `digests` are empty in a live run;
  /// `arrivalNanoseconds` is on the session's time line.
  public var frame: FinishedFrame
  /// When each of the frame's outcomes was delivered, on the session's time line; `nil` if the
  /// frame ended before the sink.
  public var deliveredNanoseconds: [Int64?]
  /// Whether each outcome is known. An outcome is unknown if a reproduced run could not compute it.
  package var isComputed: [Bool] = []
}
