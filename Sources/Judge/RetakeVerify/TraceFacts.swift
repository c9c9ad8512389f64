import Foundation
import RetakeCore
import RetakeSuite

/// What is known about a run when it has ended.
struct TraceFacts: Codable {
  struct Stage: Hashable, Codable {
    /// What a value depends on besides the values of the inputs.
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
  }

  var summary: RunSummary
  /// The stages that give values, in topological order.
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
