/// The sample values of black and white.
public enum ColorRange: String, Hashable, Sendable, Codable {
  /// 16-235 (luma) and 16-240 (chroma), times 2^(bits - 8) for deep samples.
  case limited
  /// 0 to the largest sample.
  case full
}
