package import RetakeCore

/// Counts of a recording that keeps the moments at which two pipelines disagree.
package struct ShadowProgress: Hashable, Sendable, Codable {
  /// A moment that was kept.
  package struct Moment: Hashable, Sendable, Codable {
    /// The first frame that disagrees, as the session numbers it.
    package var frame: FrameID
    /// The largest measure of the frames that caused the moment.
    package var disagreement: Double
    /// Number of frames that caused the moment.
    package var frames: Int
  }

  /// Frames with results of both pipelines.
  package var compared = 0
  /// The other frames: a pipeline dropped or lost the frame, or failed on it, or remembers such a
  /// frame that the other pipeline received.
  package var notCompared = 0
  /// Compared frames whose measure reached the threshold.
  package var disagreeing = 0
  /// Disagreeing frames that would have begun a moment, during the cooldown of the moment before.
  package var withinCooldown = 0
  /// Kept moments.
  package var momentCount = 0
  /// The first kept moments, at most 100.
  package var moments: [Moment] = []
  /// Result lines in the session, by pipeline.
  package var results = [0, 0]
  /// The progress of the shadow pipeline.
  package var pipeline: PipelineProgress?
  /// Why the shadow pipeline has no outcome; `nil` if it has one.
  package var failure: String?

  /// `900 frames compared, 12 not compared, 34 disagree`
  package var text: String {
    let cooled = withinCooldown > 0 ? " (\(withinCooldown) within the cooldown)" : ""
    return "\(counted(compared, "frame")) compared, \(notCompared) not compared, "
      + "\(disagreeing) disagree\(cooled)"
  }

  /// The most moments that are listed.
  static let momentsMax = 100

  package init() {}
}
