/// How a frame is brought to the size of a model's input.
package enum ResizeType: String, Hashable, Sendable, CaseIterable {
  /// Both sides are scaled on their own; the picture is distorted.
  case standard
  /// Scaled to fit, in the upper left corner; padding on the right and below.
  case fitToWindow = "fit_to_window"
  /// Scaled to fit, in the middle; padding on both sides.
  case fitToWindowLetterbox = "fit_to_window_letterbox"
  /// The middle of the frame, as large as the shape of the input allows; no padding.
  case crop
}
