import RetakeBuffers
import RetakeCore
import RetakeStages

/// Draws an image with the results for it. Shared by the player and the live preview.
final class PictureView {
  let canvas: Canvas
  let glyphs: GlyphTexture
  private let texture: PictureTexture
  /// The position of the image. It holds no pixels.
  private(set) var fit: PictureFit?

  /// - Throws: `PreviewError.renderer`.
  init(_ canvas: Canvas) throws(PreviewError) {
    self.canvas = canvas
    glyphs = try GlyphTexture(canvas)
    texture = PictureTexture(canvas)
  }

  /// Copies the pixels. The frame's memory may be reused as soon as this returns.
  ///
  /// - Throws: `PreviewError.renderer`, `MediaError.scale`.
  func show(_ frame: Frame, in area: CanvasRect) throws {
    try texture.show(frame)
    shape = Shape(frame)
    place(in: area)
  }

  /// Removes the image; results are then not drawn either.
  func hide() {
    shape = nil
    fit = nil
  }

  /// Updates the position after a change of the area.
  func place(in area: CanvasRect) {
    guard let shape else { return }
    fit = PictureFit(
      width: shape.width, height: shape.height, aspect: shape.aspect,
      rotationDegrees: shape.rotationDegrees, in: area)
  }

  /// - Throws: `PreviewError.renderer`.
  func draw(_ result: PreviewResult?, ageNanoseconds: Int64?) throws(PreviewError) {
    guard let fit else { return }
    try texture.draw(fit)
    guard let result else { return }
    let shapes = ResultShapes(fit: fit).shapes(of: result, ageNanoseconds: ageNanoseconds)
    ShapePainter(canvas: canvas, glyphs: glyphs, area: fit.shown).draw(shapes)
  }

  private struct Shape {
    var width: Int
    var height: Int
    var aspect: SampleAspect
    var rotationDegrees: Int

    init(_ frame: Frame) {
      (width, height) = (frame.width, frame.height)
      (aspect, rotationDegrees) = (frame.sampleAspect, frame.rotationDegrees)
    }
  }

  private var shape: Shape?
}
