import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeTimePlane

/// What was computed for a frame in flight, and may not be used.
struct UnusedValues {
  /// Values of this frame that other frames read through a latest join.
  var read: [ValueFuture] = []
  /// Set once everything is decided: values that were computed but not used, unless a reader is
  /// left.
  var leftovers: [ValueFuture] = []
}
