/// The length and the rate of a track in a replay.
package struct RunTrack: Hashable, Sendable {
  package var track: Int
  /// Rows of the index, also rows of frames without pixels.
  package var frameCount: Int
  /// Frames per second, on average; 0 with fewer than two frames.
  package var frameRate: Double

  package init(track: Int, frameCount: Int, frameRate: Double) {
    (self.track, self.frameCount, self.frameRate) = (track, frameCount, frameRate)
  }
}
