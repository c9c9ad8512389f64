import RetakeBuffers

/// The position of an image in a window: complete, centered, rotated according to its metadata, and
/// with its pixel aspect ratio.
struct ImageFit: Hashable, Sendable {
  /// The image's own size, in its pixels.
  let width: Int
  let height: Int
  /// Clockwise rotation: 0, 90, 180 or 270.
  let degrees: Int
  /// Mirrored left to right before the rotation.
  let isMirrored: Bool
  /// The covered rectangle, after rotation.
  let shown: CanvasRect

  /// - Parameter area: The available space.
  init(_ frame: Frame, in area: CanvasRect) {
    self.init(
      width: frame.width, height: frame.height, aspect: frame.sampleAspect,
      rotationDegrees: frame.rotationDegrees, isMirrored: frame.isMirrored, in: area)
  }

  init(
    width: Int, height: Int, aspect: SampleAspect = .square, rotationDegrees: Int = 0,
    isMirrored: Bool = false, in area: CanvasRect
  ) {
    self.width = width
    self.height = height
    self.isMirrored = isMirrored
    // The remainder of a negative angle is negative in Swift, and only quarter turns are drawn.
    degrees = ((rotationDegrees % 360) + 360) % 360 / 90 * 90
    let natural = Self.naturalSize(
      width: width, height: height, aspect: aspect, rotationDegrees: degrees)
    let scale = min(
      Double(max(1, area.width)) / natural.width, Double(max(1, area.height)) / natural.height)
    let shownWidth = max(1, Int((natural.width * scale).rounded()))
    let shownHeight = max(1, Int((natural.height * scale).rounded()))
    shown = CanvasRect(
      area.x + (area.width - shownWidth) / 2, area.y + (area.height - shownHeight) / 2, shownWidth,
      shownHeight)
  }

  /// The size of the image as a person sees it, if the shorter side of an image pixel is one screen
  /// pixel.
  static func naturalSize(
    width: Int, height: Int, aspect: SampleAspect, rotationDegrees: Int
  ) -> (width: Double, height: Double) {
    // FFmpeg writes an unknown aspect as 0/1; square pixels are assumed then.
    let isKnown = aspect.numerator > 0 && aspect.denominator > 0
    let ratio = isKnown ? Double(aspect.numerator) / Double(aspect.denominator) : 1
    let size = (Double(width) * max(1, ratio), Double(height) * max(1, 1 / ratio))
    return rotationDegrees % 180 == 0 ? size : (size.1, size.0)
  }

  /// The rectangle before SDL rotates it about its center.
  var unturned: CanvasRect {
    guard degrees % 180 != 0 else { return shown }
    return CanvasRect(
      shown.x + (shown.width - shown.height) / 2, shown.y + (shown.height - shown.width) / 2,
      shown.height, shown.width)
  }
}
