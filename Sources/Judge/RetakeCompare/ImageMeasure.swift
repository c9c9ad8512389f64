import Foundation
package import RetakeCore

/// Measures the difference of two images of one sink. The pixels are stored elsewhere.
package protocol ImageMeasure: Sendable {
  /// `nil` if one of the images was not kept.
  func difference(sink: String, golden: FrameID, actual: FrameID) -> ImageDifference?
}
