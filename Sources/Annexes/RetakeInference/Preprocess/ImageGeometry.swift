package import RetakeCore

/// Where a frame's pixels are in a model's input, and the way back.
///
/// ```
///        frame                      model's input
///   +--------------+              +-----------+
///   |   source     |              |  padding  |
///   |  +--------+  |              +-----------+
///   |  |        |  |   scaled     |  placed   |
///   |  |        |  |  --------->  |           |
///   |  +--------+  |              +-----------+
///   +--------------+              |  padding  |
///                                 +-----------+
/// ```
package struct ImageGeometry: Hashable, Sendable {
  /// The pixels of the frame that are scaled; with `crop` only a part of the requested region.
  package let source: PixelRectangle
  /// The pixels of the model's input that they become. All others are padding.
  package let placed: PixelRectangle
  /// Pixels of the model's input.
  package let width: Int
  package let height: Int
  private let frameWidth: Int
  private let frameHeight: Int

  /// The geometry of a region of a frame, or of the full frame, in an input of the given size.
  ///
  /// The sizes follow OpenVINO's Model API: the scaled side is rounded half to even, and an odd
  /// number of padding pixels has the larger half on the right and below.
  /// - Precondition: All sizes are positive, and the region is inside the frame.
  package init(
    frameWidth: Int, frameHeight: Int, region: PixelRectangle? = nil, width: Int, height: Int,
    resizeType: ResizeType
  ) {
    let region = region ?? PixelRectangle(x: 0, y: 0, width: frameWidth, height: frameHeight)
    precondition(
      region.x >= 0 && region.y >= 0 && region.width > 0 && region.height > 0
        && region.x + region.width <= frameWidth && region.y + region.height <= frameHeight,
      "the region is a part of the frame")
    precondition(width > 0 && height > 0, "a model's input has pixels")
    (self.frameWidth, self.frameHeight) = (frameWidth, frameHeight)
    (self.width, self.height) = (width, height)
    let whole = PixelRectangle(x: 0, y: 0, width: width, height: height)
    switch resizeType {
    case .standard: (source, placed) = (region, whole)
    case .crop: (source, placed) = (Self.center(of: region, width: width, height: height), whole)
    case .fitToWindow:
      (source, placed) = (region, Self.fitted(region, width: width, height: height))
    case .fitToWindowLetterbox:
      var fitted = Self.fitted(region, width: width, height: height)
      fitted.x = (width - fitted.width) / 2
      fitted.y = (height - fitted.height) / 2
      (source, placed) = (region, fitted)
    }
  }

  /// The largest rectangle in the middle of a region that has the shape of the input.
  private static func center(
    of region: PixelRectangle, width: Int, height: Int
  ) -> PixelRectangle {
    var part = region
    // Compared as products, because a quotient of sides is rounded.
    if region.width * height > region.height * width {
      part.width = max(1, region.height * width / height)
      part.x += (region.width - part.width) / 2
    } else {
      part.height = max(1, region.width * height / width)
      part.y += (region.height - part.height) / 2
    }
    return part
  }

  /// The region scaled to fit, in the upper left corner.
  private static func fitted(
    _ region: PixelRectangle, width: Int, height: Int
  ) -> PixelRectangle {
    let scale = min(
      Double(width) / Double(region.width), Double(height) / Double(region.height))
    func side(_ length: Int, atMost limit: Int) -> Int {
      // A region may be thinner than one pixel of the input.
      min(limit, max(1, Int((Double(length) * scale).rounded(.toNearestOrEven))))
    }
    return PixelRectangle(
      x: 0, y: 0, width: side(region.width, atMost: width),
      height: side(region.height, atMost: height))
  }
}

extension ImageGeometry {
  // The factors are the ratios of the rounded sides, and not the exact ratio, because the pixels
  // were scaled by the rounded sides.
  private var scaleX: Double { Double(placed.width) / Double(source.width) }
  private var scaleY: Double { Double(placed.height) / Double(source.height) }

  /// A point of the model's input, in pixels of the frame. It is not clipped.
  package func pointInFrame(_ pointInModel: ImagePoint) -> ImagePoint {
    ImagePoint(
      x: (pointInModel.x - Double(placed.x)) / scaleX + Double(source.x),
      y: (pointInModel.y - Double(placed.y)) / scaleY + Double(source.y))
  }

  /// A box of the model's input, in pixels of the frame. It is not clipped.
  package func boxInFrame(_ boxInModel: Box) -> Box {
    let corner = pointInFrame(ImagePoint(x: boxInModel.x, y: boxInModel.y))
    return Box(
      x: corner.x, y: corner.y, width: boxInModel.width / scaleX,
      height: boxInModel.height / scaleY)
  }

  /// A box of the frame, in pixels of the model's input.
  package func boxInModel(_ boxInFrame: Box) -> Box {
    Box(
      x: (boxInFrame.x - Double(source.x)) * scaleX + Double(placed.x),
      y: (boxInFrame.y - Double(source.y)) * scaleY + Double(placed.y),
      width: boxInFrame.width * scaleX, height: boxInFrame.height * scaleY)
  }

  /// The part of a box that is inside the frame; `nil` if the box is outside.
  ///
  /// Boxes are clipped only here, in the frame. A box that is clipped in the model's input, at the
  /// edge of its padding, can lose its area there although the object is in the frame
  /// (DeepStream-Yolo, report 697).
  package func clippedToFrame(_ boxInFrame: Box) -> Box? {
    let sides = [boxInFrame.x, boxInFrame.y, boxInFrame.width, boxInFrame.height]
    // `max` and `min` would return the other number in the place of NaN.
    guard sides.allSatisfy(\.isFinite) else { return nil }
    let left = max(0, boxInFrame.x)
    let top = max(0, boxInFrame.y)
    let right = min(Double(frameWidth), boxInFrame.x + boxInFrame.width)
    let bottom = min(Double(frameHeight), boxInFrame.y + boxInFrame.height)
    guard right > left, bottom > top else { return nil }
    return Box(x: left, y: top, width: right - left, height: bottom - top)
  }
}
