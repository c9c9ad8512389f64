import RetakeBuffers
import RetakeCore
import RetakeGraph

/// How much of what lies around a region is kept.
public struct RegionCropOptions: StageOptions, Hashable {
  /// A share of the box's width on the left and on the right, and of its height above and below;
  /// 0 to 4.
  public var padding = 0.2

  public init() {}

  public init(padding: Double) {
    self.padding = padding
  }
}

/// Cuts the region of one detection out of its frame, with what lies around it, without copying a
/// pixel.
///
/// The padded box is widened to whole pixels and cut off at the frame's edges. Formats whose chroma
/// is coarser than their luma (I420, NV12; I422 from side to side) can only be cut at even offsets:
/// an odd left or upper edge moves out by one. A box that does not touch the frame, padding left
/// aside, fails the item with `regionCrop.outside`, one without an area with `regionCrop.empty`.
public struct RegionCrop: PureStage {
  public typealias Options = RegionCropOptions

  public static let kind = "region-crop"
  public static let summary = "cuts the region of a detection out of its frame"
  public static let keepsInput = true

  public let options: RegionCropOptions

  /// - Throws: `OptionError` for a padding out of its bounds.
  public init(options: RegionCropOptions) throws(OptionError) {
    guard options.padding >= 0, options.padding <= 4 else {
      throw OptionError(key: "padding", message: "must be 0 to 4, is \(options.padding)")
    }
    self.options = options
  }

  public func process(_ region: Region, _ context: StageContext) throws(StageError) -> Frame {
    let (frame, box) = (region.frame, region.detection.box)
    guard box.width > 0, box.height > 0 else {
      throw StageError(
        code: "regionCrop.empty",
        message: "the box of \(box.width)x\(box.height) pixels has no area")
    }
    let grid = frame.format.cropGrid
    guard
      let columns = Self.span(
        box.x, box.width, padding: options.padding, side: frame.width, grid: grid.x),
      let rows = Self.span(
        box.y, box.height, padding: options.padding, side: frame.height, grid: grid.y)
    else {
      throw StageError(
        code: "regionCrop.outside",
        message: "the box at \(box.x),\(box.y) of \(box.width)x\(box.height) pixels is outside "
          + "the frame of \(frame.width)x\(frame.height)")
    }
    return frame.rectangleView(
      x: columns.lowerBound, y: rows.lowerBound, width: columns.count, height: rows.count)
  }

  /// The pixels of a padded side, from an offset on the grid; `nil` outside of the frame.
  private static func span(
    _ start: Double, _ length: Double, padding: Double, side: Int, grid: Int
  ) -> Range<Int>? {
    let limit = Double(side)
    // All fail for NaN.
    guard start < limit, start + length > 0, start + length < .infinity else { return nil }
    let margin = padding * length
    let first = Int(max(0, min(limit - 1, (start - margin).rounded(.down))))
    let end = Int(max(0, min(limit, (start + length + margin).rounded(.up))))
    // A box may be thinner than the distance of two numbers.
    return first / grid * grid..<max(first + 1, end)
  }
}
