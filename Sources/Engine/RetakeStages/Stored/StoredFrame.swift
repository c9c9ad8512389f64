import RetakeCore

/// The detections of one frame in a file.
struct StoredFrame: Sendable {
  var items: [Detection] = []
  /// The line or the element of each item, to name it in an error; empty for a golden.
  var places: [Int] = []
  /// How the frame ended in the stored run before its detections; `nil` if the run has them.
  var ended: String?
  /// Width and height of the frame in pixels; `nil` if the file does not say.
  var size: [Int]?
  /// The line or the element at which the frame was seen first.
  var place = 0

  mutating func append(_ detection: Detection, place: Int) {
    items.append(detection)
    places.append(place)
  }
}

extension Detection {
  /// The largest magnitude of a coordinate, in pixels.
  private static let pixelsMax = 1_000_000.0

  /// Why a box cannot be used; `nil` if it can.
  var problem: String? {
    let numbers = [box.x, box.y, box.width, box.height]
    guard numbers.allSatisfy(\.isFinite), score.isFinite else {
      return "a number of the box is not finite"
    }
    guard box.width >= 0, box.height >= 0 else { return "the box has a negative size" }
    guard numbers.allSatisfy({ $0.magnitude <= Self.pixelsMax }) else {
      return "a number of the box is above \(Int(Self.pixelsMax)) pixels"
    }
    guard (0...Self.classMax).contains(classIndex) else {
      return "the class \(classIndex) is not 0 to \(Self.classMax)"
    }
    return nil
  }

  static let classMax = 65_535

  /// Whether no pixel of a frame is in the box. A box without an area may be at the edge.
  func isOutside(width: Int, height: Int) -> Bool {
    let (right, bottom) = (box.x + box.width, box.y + box.height)
    return box.x > Double(width) || box.y > Double(height) || right < 0 || bottom < 0
  }
}
