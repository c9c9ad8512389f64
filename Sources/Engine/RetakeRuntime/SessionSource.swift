/// The body of a source node that reads a track of the replayed session.
///
/// It brings no frames of its own: the replay uses the session's `FrameReader` instead.
package struct SessionSource: Hashable, Sendable {
  package var track: Int

  package init(track: Int) {
    self.track = track
  }
}
