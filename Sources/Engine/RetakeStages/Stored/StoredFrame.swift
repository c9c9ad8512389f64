package import RetakeCore

/// The detections of one frame in a file.
package struct StoredFrame: Sendable {
  package var items: [Detection] = []
  /// The line or the element of each item, to name it in an error; empty for a golden.
  package var places: [Int] = []
  /// Of a COCO file, by item: the parts of a label that a detection does not have.
  package var notes: [StoredNote] = []
  /// How the frame ended in the stored run before its detections; `nil` if the run has them.
  package var ended: String?
  /// Width and height of the frame in pixels; `nil` if the file does not say.
  package var size: [Int]?
  /// The line or the element at which the frame was seen first.
  package var place = 0

  mutating func append(_ detection: Detection, place: Int, note: StoredNote? = nil) {
    items.append(detection)
    places.append(place)
    if let note { notes.append(note) }
  }
}

/// The parts of a COCO annotation that only labels have.
package struct StoredNote: Sendable {
  /// `iscrowd` or `ignore`: a region in which detections are not judged.
  package var isIgnored = false
  /// `utf8_string`, as in COCO-Text.
  package var text: String?
}

/// An image that a COCO file lists.
package struct StoredImage: Sendable {
  package var size: [Int]?
  /// The element of the file, for members that COCO does not have.
  package var element: JSONValue
}

extension Detection {
  /// The largest magnitude of a coordinate, in pixels.
  private static let pixelsMax = 1_000_000.0

  /// Why a box cannot be used; `nil` if it can.
  package var problem: String? {
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

  /// Whether a side of the box is 0.
  var hasNoArea: Bool { box.width == 0 || box.height == 0 }

  /// Whether no pixel of a frame is in the box. A box without an area may be at the edge.
  package func isOutside(width: Int, height: Int) -> Bool {
    let (right, bottom) = (box.x + box.width, box.y + box.height)
    return box.x > Double(width) || box.y > Double(height) || right < 0 || bottom < 0
  }
}
