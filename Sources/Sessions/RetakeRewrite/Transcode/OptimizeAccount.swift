import Foundation

/// Counters shared by the tracks of a replay copy.
struct OptimizeAccount {
  var segments = 0
  /// Number of frames whose pixels or format differ from the original's.
  var differingFrames = 0

  var isExact: Bool { differingFrames == 0 }
}
