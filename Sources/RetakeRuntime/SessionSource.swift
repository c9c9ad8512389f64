/// The body of a source node that reads a track of whatever session is replayed.
///
/// It brings no frames of its own: the replay puts the session's `FrameReader` in its place.
public struct SessionSource: Hashable, Sendable {
  public var track: Int

  public init(track: Int) {
    self.track = track
  }
}
