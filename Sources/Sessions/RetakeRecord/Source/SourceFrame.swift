public import RetakeBuffers
import RetakeMedia

/// A frame as a source returns it.
public struct SourceFrame: Sendable {
  /// Its timestamp is on the source's time line.
  public var frame: Frame
  /// In the source's time base; nil when the source sent no time.
  public var pts: Int64?
  /// In units of the time base; 0 when unknown.
  public var duration: Int64
  /// The number of the source's track.
  public var track: Int
  /// The packet that it was decoded from, if any.
  var original: OriginalPacket?
  /// Why the pixels cannot be trusted, as the cause in the frame's row.
  var cause: String?
  /// The field that was exposed first; nil for a progressive frame.
  var firstField: VideoField?

  /// `frame` needs no ID, because the recorder numbers frames. `pts` and `duration` are in the time
  /// base of the track.
  public init(frame: Frame, pts: Int64?, duration: Int64 = 0, track: Int = 0) {
    self.frame = frame
    self.pts = pts
    self.duration = duration
    self.track = track
  }
}
