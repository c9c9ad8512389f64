import RetakeBuffers

/// Draws images. No reference to a frame is kept: once `convert` and `upload` have returned, the
/// frame's buffer may be reused.
protocol ImagePainter: AnyObject {
  /// Converts a frame that the renderer cannot read; other frames are returned unchanged.
  ///
  /// - Throws: `MediaError.scale`.
  func converted(_ frame: Frame) throws -> Frame
  /// Copies the pixels of a frame from `converted`.
  ///
  /// - Throws: `PreviewError.renderer`.
  func upload(_ frame: Frame) throws
  /// Draws the newest image.
  ///
  /// - Throws: `PreviewError.renderer`.
  func draw(_ fit: ImageFit) throws
  /// How long the renderer itself needed for images that it has finished since the last call, in
  /// nanoseconds; empty if it does not say.
  func finishedNanoseconds() -> [Int64]
}
