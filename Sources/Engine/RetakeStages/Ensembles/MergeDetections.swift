package import RetakeCore
package import RetakeGraph

/// When two detections are considered the same object.
package struct MergeDetectionsOptions: StageOptions, Hashable {
  @OptionValue(
    "overlap (intersection over union) above which the box with the lower score is removed; 0 to 1")
  package var iou = 0.5
  @OptionValue("whether only boxes of the same class are compared") package var perClass = true
  /// Classes with other names follow, in the order of the ports. If a part is missing and this is
  /// not set, an index may mean one class in this frame and another one in the next.
  @OptionValue(
    "names of the classes in the order of their indices; set it if a part may be missing")
  package var classNames: [String] = []

  package init() {}

  package init(iou: Double, perClass: Bool = true, classNames: [String] = []) {
    (self.iou, self.perClass, self.classNames) = (iou, perClass, classNames)
  }
}

/// Combines the results of several detectors, each object once, for a join of detections: greedy
/// non-maximum suppression.
///
/// The detection with the best score is kept, and detections that overlap it too much are removed;
/// this continues with the best remaining detection. Equal scores are in the order of the ports,
/// then of the detections; NaN comes last. The remaining detections are sorted by score, otherwise
/// unchanged. Classes with the same name are merged; a class without a name is named by its number.
/// Missing parts do not count. A part that is not detections fails the frame with
/// `ensemble.otherType`.
package struct MergeDetections: PureStage {
  package static let kind = "merge-detections"
  package static let summary = "joins the results of detectors: each object once, the best first"

  package let options: MergeDetectionsOptions

  /// - Throws: `OptionError` for an overlap that is out of bounds, and for a duplicate class name.
  package init(options: MergeDetectionsOptions) throws {
    guard options.iou >= 0, options.iou <= 1 else {
      throw OptionError(key: "iou", message: "must be 0 to 1, is \(options.iou)")
    }
    guard Set(options.classNames).count == options.classNames.count else {
      throw OptionError(key: "classNames", message: "must name each class once")
    }
    self.options = options
  }

  package func process(_ joined: Joined, _ context: StageContext) throws -> Detections {
    var all = Detections([], classNames: options.classNames)
    for part in try joined.parts(all: Detections.self) { all.append(part) }
    let items = all.items
    let order = items.indices.sorted {
      items[$0].score.comesBefore(items[$1].score) ?? ($0 < $1)
    }
    // Each detection is compared with the kept detections: at most quadratic in their number.
    var kept: [Detection] = []
    for index in order where !kept.contains(where: { suppresses($0, items[index]) }) {
      kept.append(items[index])
    }
    return Detections(kept, classNames: all.classNames)
  }

  private func suppresses(_ better: Detection, _ other: Detection) -> Bool {
    (!options.perClass || better.classIndex == other.classIndex)
      && better.box.intersectionOverUnion(other.box) > options.iou
  }
}

extension Detections {
  /// Adds another detector's detections, with this one's indices for classes of the same name.
  fileprivate mutating func append(_ other: Detections) {
    // Names without a detection, too, so that indices do not depend on the detections of a frame.
    for name in other.classNames where !classNames.contains(name) { classNames.append(name) }
    for item in other.items {
      let name = other.label(of: item) ?? "\(item.classIndex)"
      if !classNames.contains(name) { classNames.append(name) }
      var item = item
      // An index counts within its own detector's names and means another class in the next.
      item.classIndex = classNames.firstIndex(of: name) ?? item.classIndex
      items.append(item)
    }
  }
}

extension Box {
  /// 0 for boxes that do not overlap, 1 for equal boxes; 0 if a number is NaN or a box has no area.
  func intersectionOverUnion(_ other: Box) -> Double {
    let across = min(x + width, other.x + other.width) - max(x, other.x)
    let down = min(y + height, other.y + other.height) - max(y, other.y)
    guard across > 0, down > 0 else { return 0 }
    let shared = across * down
    let overlap = shared / (area + other.area - shared)
    // An infinite box has an infinite area, and the quotient of two of them is NaN.
    return overlap.isNaN ? 0 : overlap
  }
}
