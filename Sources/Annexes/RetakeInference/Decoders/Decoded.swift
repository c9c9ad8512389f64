package import RetakeCore

/// A model's result for one frame.
package enum Decoded: Hashable, Sendable {
  /// Boxes in pixels of the frame, clipped at its edges, the best first.
  ///
  /// `landmarks` has one list for each detection, in pixels of the frame and not clipped; it is
  /// empty if the model returns no landmarks.
  case detections(Detections, landmarks: [[ImagePoint]])
  case classes(Classes)
  case scalars(Scalars)
}
