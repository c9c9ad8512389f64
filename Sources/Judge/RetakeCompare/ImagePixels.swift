import Foundation

/// The pixels of an image: planes of the same size, such as red, green and blue.
package struct ImagePixels: Hashable, Sendable {
  package var width: Int
  package var height: Int
  /// Row by row, without padding.
  package var planes: [[UInt8]]

  package init(width: Int, height: Int, planes: [[UInt8]]) {
    precondition(planes.allSatisfy { $0.count == width * height }, "a plane is rows x row bytes")
    self.width = width
    self.height = height
    self.planes = planes
  }
}
