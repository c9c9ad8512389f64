import RetakeBuffers
import RetakeGraph

/// Where to cut, in pixels of the frame as it is stored (rotation is not applied).
public struct CropOptions: StageOptions, Hashable {
  /// Pixels from the left, 0 to 16,384.
  public var x = 0
  /// Pixels from the top, 0 to 16,384.
  public var y = 0
  /// Pixels, up to 16,384; 0 means up to the frame's right edge.
  public var width = 0
  /// Pixels, up to 16,384; 0 means down to the frame's lower edge.
  public var height = 0

  public init() {}

  public init(x: Int, y: Int, width: Int, height: Int) {
    (self.x, self.y, self.width, self.height) = (x, y, width, height)
  }
}

/// Cuts a rectangle out of a frame without copying a pixel.
///
/// Formats whose chroma is coarser than their luma (I420, NV12; I422 from side to side) can only
/// be cut at even offsets: an odd one is rounded down, the size stays. A rectangle that does not
/// lie inside the frame fails the frame with `crop.outside`: sizes may change from frame to frame, so
/// a replay has to wait for each frame's.
public struct Crop: PureStage {
  public typealias Options = CropOptions

  public static let kind = "crop"
  public static let summary = "cuts a rectangle out of each frame, without copying"
  public static let keepsInput = true

  public let options: CropOptions

  /// - Throws: `OptionError` for a number out of its bounds.
  public init(options: CropOptions) throws(OptionError) {
    for (value, key) in [
      (options.x, "x"), (options.y, "y"), (options.width, "width"), (options.height, "height"),
    ] {
      try OptionError.require(value, key, in: 0...StageLimits.side)
    }
    self.options = options
  }

  public func process(_ frame: Frame, _ context: StageContext) throws(StageError) -> Frame {
    let width = options.width == 0 ? frame.width - options.x : options.width
    let height = options.height == 0 ? frame.height - options.y : options.height
    guard width > 0, height > 0, options.x + width <= frame.width,
      options.y + height <= frame.height
    else {
      throw StageError(
        code: "crop.outside",
        message: "the crop \(options.x),\(options.y) \(width)x\(height) does not lie inside the "
          + "frame of \(frame.width)x\(frame.height)")
    }
    let grid = frame.format.cropGrid
    return frame.rectangleView(
      x: options.x / grid.x * grid.x, y: options.y / grid.y * grid.y, width: width, height: height)
  }
}

extension PixelFormat {
  /// Luma samples for one chroma sample, in each direction.
  var cropGrid: (x: Int, y: Int) {
    switch self {
    case .i420, .nv12: (2, 2)
    case .i422: (2, 1)
    case .i444, .grey, .rgb, .bgra, .rgba: (1, 1)
    }
  }
}
