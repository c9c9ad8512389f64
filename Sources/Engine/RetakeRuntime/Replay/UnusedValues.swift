/// Values that were computed for a frame in flight, and that may remain unused.
struct UnusedValues {
  /// Values of this frame that other frames read through a latest join.
  var read: [ValueFuture] = []
  /// Set once everything is decided: values that were computed but not used, unless a reader
  /// remains.
  var leftovers: [ValueFuture] = []
}
