import RetakeMedia

/// The algorithm for scaling an image.
public enum ScalingAlgorithm: String, Hashable, Sendable, Codable, CaseIterable {
  /// `area` if the image shrinks in a direction, otherwise `bilinear`.
  case automatic
  /// The mean of the pixels that a new pixel covers; for shrinking.
  case area
  case bilinear

  /// For `retake pipeline stages`.
  static let meaning =
    "'area' (the mean of the covered pixels), 'bilinear', or 'automatic': area where the image "
    + "shrinks"
  /// Maximum pixels of a side.
  static let sideMax = 16_384

  var media: MediaScaler.Algorithm? {
    switch self {
    case .automatic: nil
    case .area: .area
    case .bilinear: .bilinear
    }
  }
}
