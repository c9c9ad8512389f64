import Foundation
package import RetakeCore

/// The first items of a list, and its total length.
package struct Excerpt<Element: Hashable & Sendable & Codable>: Hashable, Sendable, Codable {
  package var items: [Element]
  package var total: Int

  /// `total` is the number of items, unless more are known to exist.
  package init(_ items: [Element] = [], total: Int? = nil) {
    self.items = items
    self.total = max(items.count, total ?? items.count)
  }

  /// The number of items that are left out.
  package var left: Int { total - items.count }
}

/// One difference between golden and result.
package struct ReportFinding: Hashable, Sendable, Codable {
  /// The root cause that it belongs to.
  package var rootCause: String?
  /// The comparator's name for the kind, such as `boxMoved` or `fate`.
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
  /// Earlier differing decisions that this one follows from, nearest first.
  package var because: [String] = []
  /// The boxes to draw over the frame's image.
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

/// A rectangle in the frame's own pixels, with the origin at the top left.
package struct ReportBox: Hashable, Sendable, Codable {
  package enum Side: String, Hashable, Sendable, Codable {
    case golden
    case actual
    /// The same on both sides: drawn faintly, for orientation.
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

/// The image of one frame, for the inspector.
package struct ReportImage: Hashable, Sendable, Codable {
  package enum Role: String, Hashable, Sendable, Codable {
    /// What the pipeline received: shown below both golden and actual.
    case input
    /// An image that a sink received.
    case golden
    case actual
    case difference
  }

  package var frame: FrameID
  package var role: Role
  /// The node that produced the image.
  package var node: String?
  /// The frame's own size, in which boxes are given. The PNG may be smaller.
  package var width: Int
  package var height: Int
  /// A PNG file in base64.
  package var png: String
  /// The part of the frame that a sink's image shows; `nil` is the whole frame.
  package var area: Box?
  /// The boxes of this frame that golden and result have in common.
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
