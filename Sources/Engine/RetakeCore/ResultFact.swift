/// One fact that a sink received, before it is rounded and written as a line.
public enum ResultFact: Hashable, Sendable {
  case detection(Detection)
  /// A label of the frame, not of a detection.
  case classification(Classification)
  case scalar(name: String, value: Double)
  case frame(FramePrint)
  case tensor(type: String, shape: [Int], digest: Digest128)
  case waveform(Waveform)
  case text(name: String, text: String)
  case user(kind: String, digest: Digest128)
  case observation(Observation)
}
