import Foundation
package import RetakeCore

/// A rectangle in the frame's own pixels, with the origin at the top left.
package struct ReportBox: Hashable, Sendable, Codable {
  package enum Side: String, Hashable, Sendable, Codable {
    case golden
    case actual
    /// The same on both sides: drawn faintly, for orientation.
    case both
    /// An object of the labels.
    case truth
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
