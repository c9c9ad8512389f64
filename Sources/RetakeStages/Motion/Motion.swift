import RetakeBuffers
import RetakeCore
import RetakeGraph

/// What counts as motion.
public struct MotionOptions: StageOptions, Hashable {
  /// Luma levels by which a pixel must change from one frame to the next; 1 to 255.
  public var threshold = 24
  /// Changed pixels that a region must have; 1 to 1,000,000.
  public var minimumArea = 48
  /// Regions a frame, the largest first; 1 to 1,024.
  public var maximumRegions = 64
  /// The side of the squares of pixels that regions are made of; 1 to 64.
  public var cell = 4
  /// Cells from one moving cell to the next of the same region: 1 = they touch, also at a corner;
  /// 1 to 8. Larger values keep a figure together whose inside does not change.
  public var reach = 2

  public init() {}

  public init(threshold: Int) {
    self.threshold = threshold
  }
}

/// Finds what moved since the frame before: pixels that changed by the threshold or more, gathered
/// in cells and regions, each with its tight box.
///
/// A cell moves when at least an eighth of its pixels changed (and one at least), so that single
/// noisy pixels do not count. A box's score is the share of its pixels that changed. Boxes come in
/// the order of y, x, width, height; their class is `motion`. The first frame, and one whose size
/// differs from the frame before, has none. All arithmetic is in integers but for the one division
/// of the score.
public struct Motion: StatefulStage {
  public typealias Options = MotionOptions

  public static let kind = "motion"
  public static let summary = "finds moving regions by the difference to the frame before"
  public static let inputFormats: [PixelFormat] = [.grey]
  public static let classNames = ["motion"]

  public let options: MotionOptions
  private var difference = FrameDifference()
  private var regions = RegionFinder()

  /// - Throws: `OptionError` for a number out of its bounds.
  public init(options: MotionOptions) throws(OptionError) {
    try OptionError.require(options.threshold, "threshold", in: 1...255)
    try OptionError.require(options.minimumArea, "minimumArea", in: 1...1_000_000)
    try OptionError.require(options.maximumRegions, "maximumRegions", in: 1...1_024)
    try OptionError.require(options.cell, "cell", in: 1...64)
    try OptionError.require(options.reach, "reach", in: 1...8)
    self.options = options
  }

  public mutating func process(_ frame: Frame, _ context: StageContext) -> Detections {
    let changed = difference.advance(
      to: frame.luma(), threshold: UInt8(options.threshold), cell: options.cell)
    guard changed else { return Detections([], classNames: Self.classNames) }
    let found = regions.regions(
      in: difference, pixelsMin: max(1, options.cell * options.cell / 8), reach: options.reach)
    let kept = found.filter { $0.area >= options.minimumArea }
      .sorted(by: MovingRegion.isLarger).prefix(options.maximumRegions)
    return Detections(
      kept.sorted(by: MovingRegion.isEarlier).map(\.detection), classNames: Self.classNames)
  }

  public mutating func reset() {
    difference = FrameDifference()
    regions = RegionFinder()
  }
}

extension MovingRegion {
  fileprivate var detection: Detection {
    Detection(
      box: Box(x: Double(left), y: Double(top), width: Double(width), height: Double(height)),
      score: Double(area) / Double(width * height))
  }
}
