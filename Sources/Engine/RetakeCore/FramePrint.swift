/// An image in a results file: the image's format and digest, without its pixels.
public struct FramePrint: Hashable, Sendable, Codable {
  /// Pixels of the stored image, before any rotation.
  public var width: Int
  /// Pixels of the stored image, before any rotation.
  public var height: Int
  /// The pixel format as in documents, such as `I420` or `GRAY8`.
  public var format: String
  /// `limited` or `full`.
  public var range: String
  /// `bt601`, `bt709`, `bt2020`; `identity` for gray and for RGB.
  public var matrix: String
  /// XXH3-128 of format, size, range, matrix and visible bytes: `Frame.digest`.
  public var digest: Digest128

  package init(
    width: Int, height: Int, format: String, range: String, matrix: String, digest: Digest128
  ) {
    self.width = width
    self.height = height
    self.format = format
    self.range = range
    self.matrix = matrix
    self.digest = digest
  }
}
