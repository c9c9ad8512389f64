import Foundation
import RetakeCore

/// The properties of a run that has ended.
struct TraceFacts: Codable {
  struct Stage: Hashable, Codable {
    /// The context of a stage's values besides its inputs.
    enum Context: String, Codable {
      case nothing
      /// Which frames the stage received before.
      case earlierFrames
      /// Which parts of this frame and of earlier frames came in time.
      case parts
    }

    var id: String
    var context: Context
    /// Whether a program outside of this process computes it.
    var isProgram = false
    /// Whether that program is a script under `retake.loop`.
    var isLoop = false
    /// Whether the frames of its batches are computed in one call.
    var computesBatches = false
  }

  var summary: RunSummary
  /// The stages that return values, in topological order.
  var stages: [Stage]
  var sinks: [String]
  var frames: Int
  /// The number of decision lines.
  var decisions: Int
  /// The digest of the math library's values in the process.
  var mathematics: Digest128

  /// The length of a record: the digest of all frames up to this one, its id, and a digest for each
  /// sink and stage.
  var frameBytes: Int {
    TraceFiles.digestBytes * (1 + sinks.count + stages.count) + 2 * TraceFiles.numberBytes
  }
}
