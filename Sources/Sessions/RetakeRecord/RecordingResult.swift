public import RetakeCore
public import RetakeRuntime
public import RetakeSession

/// The result of a recording.
public struct RecordingResult: Sendable {
  /// The folder of the new session.
  public var folder: SessionFolder
  /// `clean` if every frame has its pixels, `lossy` if some have no pixels, `unclosed` if the
  /// session could not be closed.
  public var status: SessionStatus
  /// Why it ended; `failed` if and only if there is a `failure`.
  public var end: RecordingEnd
  /// Why it ended early. The frames recorded before are kept. The session is closed unless
  /// `isClosed` is false.
  public var failure: (any CodedError)?
  /// False when even the database could not be closed: `session recover` repairs it.
  public var isClosed: Bool
  /// The final counts.
  public var progress: RecordingProgress
  /// The measurement of the encoder; nil without a measurement.
  package var probe: EncoderProbe.Measurement?
  /// The outcome of the live pipeline; nil without one.
  public var pipeline: Result<RunOutcome, any Error>?
}
