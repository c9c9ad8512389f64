/// Names the function that turns the outputs of a model into detections, classes or numbers.
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
