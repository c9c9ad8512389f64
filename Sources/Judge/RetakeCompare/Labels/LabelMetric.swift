/// A figure that says how close results are to labels. docs/labels.md has the formulas.
package enum LabelMetric: String, CaseIterable, Hashable, Sendable, Codable {
  /// Shares of the detections that are right, and of the objects that are found, at IoU 0.5.
  case precision, recall
  /// Average precision as COCO computes it: at IoU 0.5, and the mean of IoU 0.5, 0.55 … 0.95.
  case ap50, ap
  /// Multiple object tracking accuracy, the F1 score of identities, higher order tracking accuracy.
  case mota, idf1, hota
  /// How often an object changed its identity.
  case idSwitches
  /// The mean difference of the numbers of detections and of objects in a frame.
  case countError
  /// The mean absolute difference of numbers, in their unit.
  case scalarError
  /// Wrong, missing and extra characters per character of the truth.
  case textError

  /// Whether a larger figure is a better one.
  package var largerIsBetter: Bool {
    switch self {
    case .precision, .recall, .ap50, .ap, .mota, .idf1, .hota: true
    case .idSwitches, .countError, .scalarError, .textError: false
    }
  }
}
