package import RetakeBuffers
import RetakeCore
package import RetakeGraph

/// The rectangle to cut, in pixels of the stored frame (rotation is not applied).
package struct CropOptions: StageOptions, Hashable {
  @OptionValue(
    "pixels from the left, {range}; odd numbers become even where chroma is subsampled",
    in: 0...ScalingAlgorithm.sideMax)
  package var x = 0
  @OptionValue(
    "pixels from the top, {range}; odd numbers become even where chroma is subsampled",
    in: 0...ScalingAlgorithm.sideMax)
  package var y = 0
  @OptionValue(
    "in pixels, up to 16384; 0 reaches to the right edge", in: 0...ScalingAlgorithm.sideMax)
  package var width = 0
  @OptionValue(
    "in pixels, up to 16384; 0 reaches to the lower edge", in: 0...ScalingAlgorithm.sideMax)
  package var height = 0

  package init() {}

  package init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }
}

/// Cuts a rectangle out of a frame without copying pixels.
///
/// Formats with subsampled chroma (I420, NV12; I422 horizontally) can only be cut at even offsets:
/// an odd offset is rounded down, the size is kept. A rectangle that is not inside the frame fails
/// the frame with `crop.outside`. Sizes may change from frame to frame, so a replay has to wait for
/// the size of each frame.
package struct Crop: PureStage {
  package static let kind = "crop"
  package static let summary =
    "cuts a rectangle out of each frame without copying; size 0 reaches the edge"
  package static let inputFormats = PixelFormat.allCases
  package static let keepsInput = true

  package let options: CropOptions

  /// - Throws: `OptionError` for a number that is out of bounds.
  package init(options: CropOptions) throws {
    try options.checkRanges()
    self.options = options
  }

  package func view(of input: ImageShape) -> ImageView? {
    rectangle(in: input).map { ImageView(area: $0.box, width: $0.width, height: $0.height) }
  }

  package func process(_ frame: Frame, _ context: StageContext) throws -> Frame {
    let shape = ImageShape(width: frame.width, height: frame.height, format: frame.format)
    guard let cut = rectangle(in: shape) else {
      let (width, height) = size(in: shape)
      throw StageError(
        code: "crop.outside",
        message: "the crop \(options.x),\(options.y) \(width)x\(height) is not inside the "
          + "frame of \(frame.width)x\(frame.height)")
    }
    return frame.rectangleView(x: cut.x, y: cut.y, width: cut.width, height: cut.height)
  }

  private func size(in shape: ImageShape) -> (width: Int, height: Int) {
    (
      options.width == 0 ? shape.width - options.x : options.width,
      options.height == 0 ? shape.height - options.y : options.height
    )
  }

  /// The rectangle to cut; `nil` if it is not inside the image.
  private func rectangle(in shape: ImageShape) -> Rectangle? {
    let (width, height) = size(in: shape)
    // A size of 0 extends to the edge, and an offset beyond the frame then makes it negative.
    guard width > 0, height > 0, options.x + width <= shape.width,
      options.y + height <= shape.height
    else { return nil }
    // To full chroma samples, so that all planes are cut at the same place.
    let grid = shape.format.cropGrid
    return Rectangle(
      x: options.x / grid.x * grid.x, y: options.y / grid.y * grid.y, width: width, height: height)
  }

  private struct Rectangle {
    var x: Int
    var y: Int
    var width: Int
    var height: Int

    var box: Box {
      Box(x: Double(x), y: Double(y), width: Double(width), height: Double(height))
    }
  }
}

extension PixelFormat {
  /// Luma samples per chroma sample, in each direction.
  var cropGrid: (x: Int, y: Int) { (chromaStep.across, chromaStep.down) }
}
