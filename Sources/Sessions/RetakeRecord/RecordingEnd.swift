/// Why a recording ended.
public enum RecordingEnd: String, Hashable, Sendable, Codable {
  case sourceEnded
  /// The requested number of frames or duration was reached.
  case limit
  /// `stop` was called.
  case stopped
  /// See the result's failure.
  case failed
}
