package import RetakeBuffers
package import RetakeGraph

/// How much of a region's surroundings is kept.
package struct RegionCropOptions: StageOptions, Hashable {
  @OptionValue("margin on each side, as a fraction of the box's width or height; 0 to 4")
  package var padding = 0.2

  package init() {}

  package init(padding: Double) { self.padding = padding }
}

/// Cuts the region of one detection out of its frame, with its surroundings, without copying
/// pixels.
///
/// The padded box is enlarged to integer pixels and clipped at the frame's edges. Formats with
/// subsampled chroma (I420, NV12; I422 horizontally) can only be cut at even offsets: an odd left
/// or upper edge moves outward by one. A box that does not overlap the frame, without padding,
/// fails the item with `regionCrop.outside`. A box without an area fails it with
/// `regionCrop.empty`.
package struct RegionCrop: PureStage {
  package static let kind = "region-crop"
  package static let summary = "cuts the region of a detection out of its frame"
  package static let keepsInput = true

  package let options: RegionCropOptions

  /// - Throws: `OptionError` for a padding that is out of bounds.
  package init(options: RegionCropOptions) throws {
    guard options.padding >= 0, options.padding <= 4 else {
      throw OptionError(key: "padding", message: "must be 0 to 4, is \(options.padding)")
    }
    self.options = options
  }

  package func process(_ region: Region, _ context: StageContext) throws -> Frame {
    let (frame, box) = (region.frame, region.detection.box)
    // NaN is refused here, too, because comparisons with it are false.
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

  /// The pixels of a padded side, starting at a valid offset; `nil` outside the frame.
  private static func span(
    _ start: Double, _ length: Double, padding: Double, side: Int, grid: Int
  ) -> Range<Int>? {
    let limit = Double(side)
    // All comparisons are false for NaN.
    guard start < limit, start + length > 0, start + length < .infinity else { return nil }
    let margin = padding * length
    let first = Int(max(0, min(limit - 1, (start - margin).rounded(.down))))
    let end = Int(max(0, min(limit, (start + length + margin).rounded(.up))))
    // A box may be thinner than the distance between two floating-point numbers.
    return first / grid * grid..<max(first + 1, end)
  }
}
