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
