/// The body of a source node that reads a track of the replayed session.
///
/// It has no frames: the replay reads the session's `FrameReader` instead.
package struct SessionSource: Hashable, Sendable {
  package var track: Int

  package init(track: Int) {
    self.track = track
  }
}
