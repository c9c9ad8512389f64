package import RetakeBuffers
import RetakeMedia

/// One frame as an image for people.
package enum FrameImage {
  /// A PNG of the frame, scaled down if the frame is wider than `widthMax`.
  ///
  /// - Throws: `MediaError`.
  package static func png(of frame: Frame, widthMax: Int) throws -> [UInt8] {
    let width = max(1, min(frame.width, widthMax))
    let height = max(1, frame.height * width / frame.width)
    return try MediaImage.png(
      try MediaScalers().scale(
        frame, width: width, height: height,
        format: frame.format.eightBits == .gray ? .gray : .rgb))
  }
}
