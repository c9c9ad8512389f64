/// How long the steps of the shown images took, on the thread that draws.
///
/// A preview's `render` time is their sum. OpenGL works while the thread continues: work that it
/// has not finished by then is part of `present`. `device` is the time of the device alone.
package struct StepFigures: Hashable, Sendable, Codable {
  /// Converting colors by the processor, before the renderer gets the image. OpenGL converts while
  /// it draws, and this is then nearly zero.
  package var convert: WindowFigures.Spread?
  /// Copying the pixels to the renderer.
  package var upload: WindowFigures.Spread?
  /// Passing the image, results and text to the renderer.
  package var draw: WindowFigures.Spread?
  /// Handing the window's image to the screen, and waiting for its refresh if there is one.
  package var present: WindowFigures.Spread?
  /// The time in which the device drew an image and converted its colors, by its own clock; `nil`
  /// if the renderer does not say, or if the device is the processor.
  package var device: WindowFigures.Spread?

  init() {}
}

/// Collects the steps of images.
struct StepState: Sendable {
  private var convert = FigureSamples()
  private var upload = FigureSamples()
  private var draw = FigureSamples()
  private var present = FigureSamples()
  private var device = FigureSamples()

  mutating func add(_ steps: DrawingSteps) {
    convert.add(steps.convertNanoseconds)
    upload.add(steps.uploadNanoseconds)
    draw.add(steps.drawNanoseconds)
    present.add(steps.presentNanoseconds)
    for time in steps.deviceNanoseconds { device.add(time) }
  }

  /// A copy with its own memory.
  var detached: StepState {
    var copy = self
    copy.convert = convert.detached
    copy.upload = upload.detached
    copy.draw = draw.detached
    copy.present = present.detached
    copy.device = device.detached
    return copy
  }

  var figures: StepFigures {
    var figures = StepFigures()
    figures.convert = convert.spread
    figures.upload = upload.spread
    figures.draw = draw.spread
    figures.present = present.spread
    figures.device = device.spread
    return figures
  }
}
