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
