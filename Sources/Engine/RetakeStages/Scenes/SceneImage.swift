/// One image before camera noise is added.
protocol SceneImage {
  /// Fills the visible part of one row of an I420 plane. `noise` is for images that need levels
  /// between two byte values.
  func fill(_ row: inout [UInt8], plane: Int, y: Int, noise: CameraNoise)
}
