package import RetakeCore

/// What a model found in one frame.
package enum Decoded: Hashable, Sendable {
  /// Boxes in pixels of the frame, clipped at its edges, the best first.
  ///
  /// `landmarks` has one list for each detection, in pixels of the frame and not clipped; it is
  /// empty if the model gives none.
  case detections(Detections, landmarks: [[ImagePoint]])
  case classes(Classes)
  case scalars(Scalars)
}
