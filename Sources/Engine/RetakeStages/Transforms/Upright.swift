package import RetakeBuffers
package import RetakeGraph

/// Turns and mirrors each frame as players show it, by the rotation of its recording. No sample
/// changes; a frame without rotation is passed through.
///
/// Formats whose chroma has other steps across than down, such as I422, are converted before. A
/// result after this stage is in pixels of the turned frame; reports and overlays map its boxes back
/// to the stored frame.
package struct Upright: PureStage {
  package static let kind = "upright"
  package static let summary = "turns and mirrors each frame as players show it, without loss"
  package static let inputFormats = PixelFormat.allCases.filter(\.isTurnable)
  /// A frame without rotation is passed through.
  package static let keepsInput = true

  package init() {}

  package init(options: NoOptions) {}

  package func view(of input: ImageShape) -> ImageView? {
    input.turn.isNone ? nil : ImageView(upright: input)
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame {
    guard let view = view(of: ImageShape(frame)) else { return frame }
    var made = context.makeFrame(
      format: frame.format, width: view.width, height: view.height, range: frame.range,
      matrix: frame.matrix)
    made.sampleAspect = frame.uprightAspect
    frame.writeUpright(to: &made)
    return made.finish()
  }
}
