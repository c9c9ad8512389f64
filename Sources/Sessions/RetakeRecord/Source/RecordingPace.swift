/// Whether frames reach the recorder at their own times.
public enum RecordingPace: String, Hashable, Sendable, Codable, CaseIterable {
  /// Each at its own time, as from a camera; payload that the encoder has no time for is shed.
  case realtime
  /// As fast as they are encoded; no frame is shed, and the session is reproducible.
  case unpaced
}
