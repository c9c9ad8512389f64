import RetakeBuffers

/// What draws on a canvas: OpenGL with Retake's own shaders, or SDL's renderer.
///
/// Coordinates are pixels of the canvas, with the origin at the top left.
protocol CanvasPainter: AnyObject {
  var renderer: WindowRenderer { get }
  /// The whole drawing area.
  var area: CanvasRect { get }

  func clear(_ color: CanvasColor)
  func fill(_ rects: [CanvasRect], _ color: CanvasColor)
  /// Restricts drawing to a rectangle, until it is called with `nil`.
  func clip(to rect: CanvasRect?)
  /// An image's pixels were passed to the renderer; see `Canvas.Window.waitsForDevice`.
  func uploaded()
  /// Passes what was drawn so far to the device, without waiting for it unless the window was opened
  /// that way.
  func flush()
  /// Shows what was drawn, and waits for the screen if the window was opened that way.
  func present()
  /// What has been drawn so far, as a BGRA image.
  ///
  /// - Throws: `PreviewError.renderer`.
  func picture() throws -> Frame
  /// - Throws: `PreviewError.renderer`.
  func makeGlyphs() throws -> any GlyphPainter
  /// - Throws: `PreviewError.shader`, `.noShaders`.
  func makeImage(_ grading: Grading?) throws -> any ImagePainter
}

/// Draws letters.
protocol GlyphPainter: AnyObject {
  /// Writes a line, starting at its top left corner.
  ///
  /// - Parameter scale: The width of a glyph's pixel in canvas pixels.
  func write(_ text: String, x: Int, y: Int, scale: Int, _ color: CanvasColor)
}

extension GlyphPainter {
  func write(_ text: String, x: Int, y: Int, _ color: CanvasColor) {
    write(text, x: x, y: y, scale: 1, color)
  }
}

/// Draws images. No reference to a frame is kept: once `convert` and `upload` have returned, the
/// frame's buffer may be reused.
protocol ImagePainter: AnyObject {
  /// Converts a frame that the renderer cannot take as it is; others are returned unchanged.
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
  /// How long the renderer itself took for images that it has finished since the last call, in
  /// nanoseconds; empty if it does not say.
  func finishedNanoseconds() -> [Int64]
}
