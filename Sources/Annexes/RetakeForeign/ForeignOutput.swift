import RetakeCore
import RetakeGraph

/// What a program may return for a frame.
package enum ForeignOutput: String, CaseIterable, Hashable, Sendable {
  case detections
  case classes
  case scalars
  /// It is a whole pipeline: it gives values to sinks, and may have timers.
  case program
}
