/// All detections of one frame, with the names of the detector's classes.
///
/// ```swift
/// struct Plates: PureStage {
///   static let kind = "plates"
///
///   func process(_ frame: Frame, _ context: StageContext) -> Detections {
///     let box = Box(x: 12, y: 8.5, width: 40, height: 20)
///     let plate = Detection(box: box, score: 0.9, classIndex: 1)
///     return Detections([plate], classNames: ["car", "plate"])
///   }
/// }
/// ```
public struct Detections: Hashable, Sendable, Codable {
  /// In any order that is the same in each run; results are sorted before they are written and
  /// compared, unless the rule of the sink is `order: significant`.
  public var items: [Detection]
  /// Class names by `Detection.classIndex`.
  public var classNames: [String]

  /// `classNames` should be the same list for every frame. Class indices of `items` are not
  /// checked.
  public init(_ items: [Detection], classNames: [String]) {
    self.items = items
    self.classNames = classNames
  }
}
