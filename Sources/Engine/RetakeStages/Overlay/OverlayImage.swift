package import RetakeBuffers
package import RetakeCore

/// An image that an overlay is drawn over: its stored size, and its rotation for display.
package struct OverlayImage: Hashable, Sendable {
  /// In pixels.
  package var width: Int
  /// In pixels.
  package var height: Int
  /// Clockwise: 0, 90, 180 or 270.
  package var rotationDegrees: Int
  /// Mirrored left to right before the rotation.
  package var isMirrored: Bool

  package init(width: Int, height: Int, rotationDegrees: Int = 0, isMirrored: Bool = false) {
    (self.width, self.height, self.rotationDegrees) = (width, height, rotationDegrees)
    self.isMirrored = isMirrored
  }

  package init(_ frame: Frame) {
    self.init(
      width: frame.width, height: frame.height, rotationDegrees: frame.rotationDegrees,
      isMirrored: frame.isMirrored)
  }

  private var isOnItsSide: Bool { rotationDegrees == 90 || rotationDegrees == 270 }
  /// As displayed, in pixels.
  package var uprightWidth: Int { isOnItsSide ? height : width }
  /// As displayed, in pixels.
  package var uprightHeight: Int { isOnItsSide ? width : height }

  /// Converts a box in the stored image to the upright image.
  package func upright(_ box: Box) -> Box {
    turned(isMirrored ? mirrored(box) : box)
  }

  private func mirrored(_ box: Box) -> Box {
    Box(x: Double(width) - box.x - box.width, y: box.y, width: box.width, height: box.height)
  }

  private func turned(_ box: Box) -> Box {
    switch rotationDegrees {
    case 90:
      Box(
        x: Double(height) - box.y - box.height, y: box.x, width: box.height, height: box.width)
    case 180:
      Box(
        x: Double(width) - box.x - box.width, y: Double(height) - box.y - box.height,
        width: box.width, height: box.height)
    case 270:
      Box(x: box.y, y: Double(width) - box.x - box.width, width: box.height, height: box.width)
    default: box
    }
  }

  /// The inverse of `upright`.
  package func stored(_ box: Box) -> Box {
    // The rest of the circle undoes the rotation.
    let back = OverlayImage(
      width: uprightWidth, height: uprightHeight, rotationDegrees: (360 - rotationDegrees) % 360
    ).turned(box)
    return isMirrored ? mirrored(back) : back
  }
}
