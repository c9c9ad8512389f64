package import RetakeCore

/// A run cannot be decided. A driver reports it as its own error.
package enum DecisionError: Error, Hashable {
  /// An instant of virtual time never ends.
  case endlessInstant(nanoseconds: Int64, node: String)
  /// Strict timings have no cost of a stage for a frame, or for an item of it.
  case costMissing(node: String, frame: FrameID, item: Int?, timings: String, detail: String?)
}
