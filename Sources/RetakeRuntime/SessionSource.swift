/// The body of a source node that reads a track of the replayed session.
///
/// It brings no frames of its own: the replay uses the session's `FrameReader` instead.
public struct SessionSource: Hashable, Sendable {
  public var track: Int

  public init(track: Int) {
    self.track = track
  }
}
