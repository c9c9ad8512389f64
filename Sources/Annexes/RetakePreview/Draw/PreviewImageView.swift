import RetakeBuffers
import RetakeRuntime

/// Draws an image with the results for it. Shared by the player and the live preview.
final class PreviewImageView {
  let canvas: Canvas
  let glyphs: any GlyphPainter
  private let picture: any ImagePainter
  private let clock: any LiveClock
  /// How long the steps of the image that is drawn took.
  private(set) var steps = DrawingSteps()
  /// The position of the image. It holds no pixels.
  private(set) var fit: ImageFit?

  /// - Throws: `PreviewError.renderer`, `.shader`, `.noShaders`.
  init(
    _ canvas: Canvas, _ grading: Grading? = nil, clock: any LiveClock = WallClock()
  ) throws {
    (self.canvas, self.clock) = (canvas, clock)
    glyphs = try canvas.painter.makeGlyphs()
    picture = try canvas.painter.makeImage(grading)
  }

  /// Copies the pixels. The frame's memory may be reused as soon as this returns.
  ///
  /// - Throws: `PreviewError.renderer`, `MediaError.scale`.
  func show(_ frame: Frame, in area: CanvasRect) throws {
    let begin = clock.monotonicNanoseconds
    let converted = try picture.converted(frame)
    let between = clock.monotonicNanoseconds
    try picture.upload(converted)
    canvas.painter.uploaded()
    steps = DrawingSteps()
    steps.convertNanoseconds = between - begin
    steps.uploadNanoseconds = clock.monotonicNanoseconds - between
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
    fit = ImageFit(
      width: shape.width, height: shape.height, aspect: shape.aspect,
      rotationDegrees: shape.rotationDegrees, isMirrored: shape.isMirrored, in: area)
  }

  /// - Throws: `PreviewError.renderer`.
  func draw(_ result: PreviewResult?, ageNanoseconds: Int64?) throws {
    guard let fit else { return }
    try picture.draw(fit)
    guard let result else { return }
    let shapes = ResultShapes(fit: fit).shapes(of: result, ageNanoseconds: ageNanoseconds)
    ShapePainter(canvas: canvas, glyphs: glyphs, area: fit.shown).draw(shapes)
  }

  /// Calls `draw`, and shows the drawing.
  ///
  /// - Throws: The error of `draw`.
  func present<Failure>(_ draw: () throws(Failure) -> Void) throws(Failure) {
    let begin = clock.monotonicNanoseconds
    try draw()
    canvas.painter.flush()
    let between = clock.monotonicNanoseconds
    canvas.painter.present()
    steps.drawNanoseconds = between - begin
    steps.presentNanoseconds = clock.monotonicNanoseconds - between
    steps.deviceNanoseconds = picture.finishedNanoseconds()
  }

  private struct Shape {
    var width: Int
    var height: Int
    var aspect: SampleAspect
    var rotationDegrees: Int
    var isMirrored: Bool

    init(_ frame: Frame) {
      (width, height) = (frame.width, frame.height)
      (aspect, rotationDegrees) = (frame.sampleAspect, frame.rotationDegrees)
      isMirrored = frame.isMirrored
    }
  }

  private var shape: Shape?
}
