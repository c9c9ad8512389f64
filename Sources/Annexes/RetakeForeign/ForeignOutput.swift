/// The kind of value that a program returns for a frame.
package enum ForeignOutput: String, CaseIterable, Hashable, Sendable {
  case detections
  case classes
  case scalars
  /// Masks, key points, lines, images, embeddings and JSON.
  case observations
  /// The program is a pipeline: it sends values to sinks, and may have timers.
  case program
}
