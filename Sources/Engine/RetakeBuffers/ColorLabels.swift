/// The color labels of a source beyond range and matrix, as FFmpeg's names of the code points of
/// ITU-T H.273. The labels never change a pixel, and `convert` does not read them.
package struct ColorLabels: Hashable, Sendable, Codable {
  /// How light becomes a sample, such as `bt709`, `smpte2084` (PQ) or `arib-std-b67` (HLG); nil if
  /// the source does not say it.
  package var transfer: String?
  /// The colors of red, green and blue, such as `bt709` or `bt2020`.
  package var primaries: String?
  /// The matrix, if `ColorMatrix` has no case for it, such as `ictcp`.
  package var otherMatrix: String?

  package init(transfer: String? = nil, primaries: String? = nil, otherMatrix: String? = nil) {
    (self.transfer, self.primaries, self.otherMatrix) = (transfer, primaries, otherMatrix)
  }

  package var isEmpty: Bool { transfer == nil && primaries == nil && otherMatrix == nil }
}
