/// How luma and chroma are computed from red, green and blue.
public enum ColorMatrix: String, Hashable, Sendable, Codable {
  case bt601
  case bt709
  case bt2020
  /// Not a luma-chroma format, or gray.
  case identity

  /// The matrix that is assumed for an unlabelled image: BT.601 below 720 lines, otherwise BT.709.
  package static func assumed(height: Int) -> ColorMatrix { height < 720 ? .bt601 : .bt709 }
}
