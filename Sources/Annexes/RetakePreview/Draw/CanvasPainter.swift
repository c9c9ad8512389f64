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
