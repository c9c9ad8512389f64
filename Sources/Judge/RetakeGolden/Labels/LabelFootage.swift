package import RetakeCore

/// The facts of a session that labels are checked against.
package struct LabelFootage: Hashable, Sendable {
  package var session: String
  /// Of the input that a case has in this track; `nil` if labels are not tied to a recording.
  package var digest: Digest128?
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
    session: String, digest: Digest128? = nil, track: Int, frames: Int, width: Int, height: Int,
    rotationDegrees: Int = 0, times: [Int64] = []
  ) {
    (self.session, self.digest) = (session, digest)
    self.track = track
    self.frames = frames
    self.width = width
    self.height = height
    self.rotationDegrees = rotationDegrees
    self.times = times
  }
}
