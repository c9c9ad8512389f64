/// What a source says about the colors of its samples beyond range and matrix, by FFmpeg's names
/// of the code points of ITU-T H.273. Nothing of it changes a pixel; `convert` reads none of it.
package struct ColorLabels: Hashable, Sendable, Codable {
  /// How light becomes a sample, such as `bt709`, `smpte2084` (PQ) or `arib-std-b67` (HLG); nil if
  /// the source does not say it.
  package var transfer: String?
  /// The colors of red, green and blue, such as `bt709` or `bt2020`.
  package var primaries: String?
  /// The matrix, if it is one that `ColorMatrix` does not have, such as `ictcp`.
  package var otherMatrix: String?

  package init(transfer: String? = nil, primaries: String? = nil, otherMatrix: String? = nil) {
    (self.transfer, self.primaries, self.otherMatrix) = (transfer, primaries, otherMatrix)
  }

  package var isEmpty: Bool { transfer == nil && primaries == nil && otherMatrix == nil }
}
