import RetakeBuffers

/// Draws on a canvas: with OpenGL and Retake's shaders, or with SDL's renderer.
///
/// Coordinates are pixels of the canvas, with the origin at the top left.
protocol CanvasPainter: AnyObject {
  var renderer: WindowRenderer { get }
  /// The full drawing area.
  var area: CanvasRect { get }

  func clear(_ color: CanvasColor)
  func fill(_ rects: [CanvasRect], _ color: CanvasColor)
  /// Restricts drawing to a rectangle, until it is called with `nil`.
  func clip(to rect: CanvasRect?)
  /// An image's pixels were passed to the renderer; see `Canvas.Window.waitsForDevice`.
  func uploaded()
  /// Passes the drawing so far to the device, without waiting for the device unless the window was
  /// opened that way.
  func flush()
  /// Shows the drawing, and waits for the screen if the window was opened that way.
  func present()
  /// The drawing so far, as a BGRA image.
  ///
  /// - Throws: `PreviewError.renderer`.
  func picture() throws -> Frame
  /// - Throws: `PreviewError.renderer`.
  func makeGlyphs() throws -> any GlyphPainter
  /// - Throws: `PreviewError.shader`, `.noShaders`.
  func makeImage(_ grading: Grading?) throws -> any ImagePainter
}
