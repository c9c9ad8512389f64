import Foundation
package import RetakeCore

/// The image of one frame, for the inspector.
package struct ReportImage: Hashable, Sendable, Codable {
  package enum Role: String, Hashable, Sendable, Codable {
    /// The frame that the pipeline received: shown below both golden and actual.
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
  /// The frame's own size, in pixels. Boxes use this size; the PNG may be smaller.
  package var width: Int
  package var height: Int
  /// A PNG file in base64; empty if it is in `file`.
  package var png: String
  /// On the page of a published run: the PNG file, relative to the page.
  package var file: String?
  /// The part of the frame that a sink's image shows; `nil` means the complete frame.
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
