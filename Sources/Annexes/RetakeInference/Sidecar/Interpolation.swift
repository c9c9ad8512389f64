package enum Interpolation: String, Hashable, Sendable, CaseIterable {
  /// As OpenCV's `INTER_LINEAR`: 11 bits of weight. It does not blur before it makes smaller.
  case bilinear
  /// As OpenCV's `INTER_NEAREST`.
  case nearest
}
