// The words of sidecars: those of OpenVINO's Model API where it has them.

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

package enum Interpolation: String, Hashable, Sendable, CaseIterable {
  /// As OpenCV's `INTER_LINEAR`: 11 bits of weight. It does not blur before it makes smaller.
  case bilinear
  /// As OpenCV's `INTER_NEAREST`.
  case nearest
}

/// The order of an input's dimensions.
package enum TensorLayout: String, Hashable, Sendable, CaseIterable {
  case nchw = "NCHW"
  case nhwc = "NHWC"
}

/// The channels of an input, in their order.
package enum ColorSpace: String, Hashable, Sendable, CaseIterable {
  case rgb = "RGB"
  case bgr = "BGR"
  case gray = "GRAY"

  package var channels: Int { self == .gray ? 1 : 3 }
}

/// What turns the outputs of a model into detections, classes or numbers.
package enum DecoderName: String, Hashable, Sendable, CaseIterable {
  case boxes = "boxes-xyxy-score-class"
  case yoloV5 = "yolo-v5"
  case yoloV8 = "yolo-v8"
  case yolox
  case ssdAnchors = "ssd-anchors"
  case centerface
  case dbText = "db-text"
  case ctcText = "ctc-text"
  case softmax
  case sigmoidMultilabel = "sigmoid-multilabel"
  case probabilities
  case regression
}
