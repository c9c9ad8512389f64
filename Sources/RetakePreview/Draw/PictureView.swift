import RetakeBuffers
import RetakeCore
import RetakeStages

/// Draws a picture with what was found in it: the part that a player and a live preview share.
final class PictureView {
  let canvas: Canvas
  let glyphs: GlyphTexture
  private let texture: PictureTexture
  /// Keeps no pixels: only what says where the picture lies.
  private(set) var fit: PictureFit?

  /// - Throws: `PreviewError.renderer`.
  init(_ canvas: Canvas) throws(PreviewError) {
    self.canvas = canvas
    glyphs = try GlyphTexture(canvas)
    texture = PictureTexture(canvas)
  }

  /// Takes the pixels over; the frame's memory may be used again at once.
  ///
  /// - Throws: `PreviewError.renderer`, `MediaError.scale`.
  func show(_ frame: Frame, in area: CanvasRect) throws {
    try texture.show(frame)
    shape = Shape(frame)
    place(in: area)
  }

  /// There is no picture now, and nothing that could be drawn over one.
  func hide() {
    shape = nil
    fit = nil
  }

  /// The area has another size.
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
