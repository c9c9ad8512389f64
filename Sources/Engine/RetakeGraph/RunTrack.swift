/// The length, the rate and the rotation of a track in a replay.
package struct RunTrack: Hashable, Sendable {
  package var track: Int
  /// Rows of the index, also rows of frames without pixels.
  package var frameCount: Int
  /// Frames per second, on average; 0 with fewer than two frames.
  package var frameRate: Double
  /// Degrees clockwise by which a viewer rotates the frames.
  package var rotationDegrees: Int

  package init(track: Int, frameCount: Int, frameRate: Double, rotationDegrees: Int) {
    (self.track, self.frameCount) = (track, frameCount)
    (self.frameRate, self.rotationDegrees) = (frameRate, rotationDegrees)
  }
}
