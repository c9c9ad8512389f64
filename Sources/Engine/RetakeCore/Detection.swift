/// Something found in a frame.
///
/// ```swift
/// let box = Box(x: 12, y: 8.5, width: 40, height: 20)  // pixels of the stage's input
/// let plate = Detection(box: box, score: 0.9, classIndex: 1)
/// ```
public struct Detection: Hashable, Sendable, Codable {
  /// In pixels of the stage's input. After a crop or a resize these are pixels of the cropped or
  /// resized frame.
  public var box: Box
  /// Usually 0 to 1.
  public var score: Double
  /// Index into the detector's class list.
  public var classIndex: Int
  /// The tracker's number for this object, the same in all frames; `nil` without a tracker.
  public var identity: Int?
  /// A classifier's labels for this detection.
  public var classes: [Classification]

  /// By default a detection of the first class, without an identity and without labels. `score` and
  /// `classIndex` are not checked.
  public init(
    box: Box, score: Double, classIndex: Int = 0, identity: Int? = nil,
    classes: [Classification] = []
  ) {
    self.box = box
    self.score = score
    self.classIndex = classIndex
    self.identity = identity
    self.classes = classes
  }
}
