public import RetakeBuffers

/// The size and the pixel format of an image.
public struct ImageShape: Hashable, Sendable {
  /// Pixels.
  public var width: Int
  /// Pixels.
  public var height: Int
  /// The layout of the pixels.
  public var format: PixelFormat

  /// For a test of a stage's `view(of:)`; the engine passes the shape of the stage's input.
  public init(width: Int, height: Int, format: PixelFormat) {
    (self.width, self.height, self.format) = (width, height, format)
  }
}
