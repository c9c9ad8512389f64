public import RetakeCore

/// One result of `FrameStream.item()`.
public enum SourceItem: Sendable {
  case frame(SourceFrame)
  /// A frame that could not be decoded, or that there was not enough memory for: it has a row, but
  /// no pixels.
  case missed(MissedFrame)
  /// A state change of the source, recorded as an event of the recorder.
  case note(kind: String, json: JSONValue)
  /// No frame yet.
  case nothing
  case end
}
