public import RetakeCore
package import RetakeMedia

/// Describes one track of a source.
public struct SourceTrack: Hashable, Sendable {
  /// Time base of the presentation times.
  public var timeBase: TimeBase
  /// Nominal rate; nil when unknown. The recorder checks its encoder against it.
  public var framesPerSecond: Double?
  /// The stream that the frames are decoded from, if any.
  package var stream: MediaStream?

  /// A track of an app's or a reader's frames. They have no packets, so the preset `copy` refuses
  /// them.
  public init(timeBase: TimeBase, framesPerSecond: Double? = nil) {
    self.timeBase = timeBase
    self.framesPerSecond = framesPerSecond
  }

  package init(_ stream: MediaStream) {
    self.init(
      timeBase: stream.timeBase, framesPerSecond: stream.averageFrameRate?.framesPerSecond)
    self.stream = stream
  }
}
