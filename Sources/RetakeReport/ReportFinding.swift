import Foundation
import RetakeCore

/// The first of many, and how many there are.
package struct Excerpt<Element: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
  package var items: [Element]
  package var total: Int

  /// `total` is the number of items unless more are known to exist.
  package init(_ items: [Element] = [], total: Int? = nil) {
    self.items = items
    self.total = max(items.count, total ?? items.count)
  }

  /// How many are not in here.
  package var left: Int { total - items.count }
}

/// One difference between golden and result.
package struct ReportFinding: Hashable, Sendable, Codable {
  /// The root cause that it belongs to.
  package var rootCause: String?
  /// A word of the comparator, such as `boxMoved` or `fate`.
  package var kind: String
  package var frame: FrameID?
  package var timeNanoseconds: Int64?
  package var sink: String?
  package var golden: String?
  package var actual: String?
  package var magnitude: Double?
  package var allowed: Double?
  package var unit: String?
  package var message: String
  /// Earlier decisions that differ and that this one follows from, the nearest first.
  package var because: [String] = []
  /// What to draw over the frame's picture.
  package var boxes: [ReportBox] = []

  package init(
    kind: String, frame: FrameID?, sink: String? = nil, golden: String? = nil,
    actual: String? = nil, message: String
  ) {
    self.kind = kind
    self.frame = frame
    self.sink = sink
    self.golden = golden
    self.actual = actual
    self.message = message
  }
}

/// A rectangle in the frame's own pixels, origin top left.
package struct ReportBox: Hashable, Sendable, Codable {
  package enum Side: String, Hashable, Sendable, Codable {
    case golden
    case actual
    /// The same in both: drawn faintly, to find one's way.
    case both
  }

  package var side: Side
  package var x: Double
  package var y: Double
  package var width: Double
  package var height: Double
  package var label: String?

  package init(_ side: Side, _ box: Box, label: String? = nil) {
    self.side = side
    x = box.x
    y = box.y
    width = box.width
    height = box.height
    self.label = label
  }
}

/// The picture of one frame, for the inspector.
package struct ReportPicture: Hashable, Sendable, Codable {
  package enum Role: String, Hashable, Sendable, Codable {
    /// What the pipeline was given: shown under golden and actual alike.
    case input
    /// A picture that a sink received.
    case golden
    case actual
    case difference
  }

  package var frame: FrameID
  package var role: Role
  /// The node that gave the picture.
  package var node: String?
  /// The frame's own size, in which boxes are given; the PNG may be smaller.
  package var width: Int
  package var height: Int
  /// A PNG file in base64.
  package var png: String
  /// The part of the frame that a sink's picture shows; `nil` is all of it.
  package var area: Box?
  /// What golden and result have in common in this frame.
  package var boxes: [ReportBox]

  package init(
    frame: FrameID, role: Role = .input, node: String? = nil, width: Int, height: Int,
    png: [UInt8], boxes: [ReportBox] = []
  ) {
    self.frame = frame
    self.role = role
    self.node = node
    self.width = width
    self.height = height
    self.png = Data(png).base64EncodedString()
    self.boxes = boxes
  }
}
