/// The facts of a session that labels are checked against.
package struct LabelFootage: Hashable, Sendable {
  package var session: String
  /// The track whose frames are labelled.
  package var track: Int
  package var frames: Int
  /// Of the stored frames, in pixels.
  package var width: Int
  package var height: Int
  /// How players turn the frames, in degrees.
  package var rotationDegrees: Int
  /// Presentation times of the frames since the first, in nanoseconds, in the order of the frames.
  package var times: [Int64]

  package init(
    session: String, track: Int, frames: Int, width: Int, height: Int, rotationDegrees: Int = 0,
    times: [Int64] = []
  ) {
    self.session = session
    self.track = track
    self.frames = frames
    self.width = width
    self.height = height
    self.rotationDegrees = rotationDegrees
    self.times = times
  }
}
