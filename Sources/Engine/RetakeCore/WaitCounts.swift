/// How long frames of a source waited for a buffer of its pool.
public struct WaitCounts: Hashable, Sendable, Codable {
  /// The source's ID in the pipeline.
  public var source: String
  /// Frames that waited and were then captured.
  public var waited = 0
  /// The sum of their waits, in nanoseconds.
  public var nanoseconds: Int64 = 0
  /// The longest of their waits, in nanoseconds.
  public var nanosecondsMax: Int64 = 0
  /// Frames that waited to the limit, or found the driver full, and were lost.
  public var lost = 0

  package init(source: String) {
    self.source = source
  }
}
