/// How long the steps of one image took on the thread that draws, in nanoseconds.
struct DrawingSteps: Hashable, Sendable {
  /// By the processor, before the renderer gets the image; nearly 0 if the renderer converts it.
  var convertNanoseconds: Int64 = 0
  /// Until the renderer has the pixels.
  var uploadNanoseconds: Int64 = 0
  /// Until the renderer has all that is to be drawn. OpenGL draws on after that.
  var drawNanoseconds: Int64 = 0
  /// Until the image was handed to the screen.
  var presentNanoseconds: Int64 = 0
  /// The renderer's own times for images that it has finished in the meantime.
  var deviceNanoseconds: [Int64] = []
}
