/// Progress of an import.
public struct ImportProgress: Hashable, Sendable {
  /// The steps, in this order. Decoding and checking are done for one track after another.
  public enum Phase: String, Hashable, Sendable {
    case copying, indexing, decoding, checking, hashing, sensors
  }

  /// The step that is being done.
  public var phase: Phase
  /// Frames of the phase that are done; bytes while copying and hashing, samples of sensors.
  public var done: Int
  /// Approximate total; nil when unknown.
  public var total: Int?

  package init(phase: Phase, done: Int, total: Int?) {
    (self.phase, self.done, self.total) = (phase, done, total)
  }
}
