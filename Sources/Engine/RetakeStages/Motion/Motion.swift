public import RetakeBuffers
public import RetakeCore
public import RetakeGraph

/// Options of motion detection.
public struct MotionOptions: StageOptions, Hashable {
  /// One line for each option, for `retake pipeline stages`.
  public static let explanations: [String: String] = [
    "cell": "side of the square cells that regions consist of, in pixels; 1 to 64",
    "maximumRegions": "regions of a frame that are kept, the largest first; 1 to 1024",
    "minimumArea": "changed pixels that a region has at least; 1 to 1000000",
    "reach":
      "largest distance between moving cells of one region, in cells: 1 means that "
      + "they touch; 1 to 8",
    "threshold": "smallest change of a pixel's luma that counts, in levels; 1 to 255",
  ]

  /// Minimum change of a pixel's luma from one frame to the next, in levels; 1 to 255.
  public var threshold = 24
  /// Minimum number of changed pixels in a region; 1 to 1,000,000.
  public var minimumArea = 48
  /// Maximum number of regions per frame, largest first; 1 to 1,024.
  public var maximumRegions = 64
  /// Side of the square cells that regions consist of, in pixels; 1 to 64.
  public var cell = 4
  /// Maximum distance between moving cells of the same region, in cells: 1 means that they touch,
  /// even at a corner; 1 to 8. Larger values keep a figure together if its interior does not
  /// change.
  public var reach = 2

  /// All options have their defaults.
  public init() {}

  /// The other options keep their defaults. `Motion.init(options:)` checks the range.
  public init(threshold: Int) {
    self.threshold = threshold
  }
}

/// Finds movement since the previous frame: pixels that changed by the threshold or more, grouped
/// into cells and regions, each with its tight box.
///
/// A cell moves when at least an eighth of its pixels changed (and at least one), so that single
/// noisy pixels do not count. A box's score is the fraction of its pixels that changed. Boxes are
/// sorted by y, x, width, height; their class is `motion`. The first frame, and one whose size
/// differs from the previous frame, has no detections. All arithmetic uses integers except for the
/// division of the score.
public struct Motion: StatefulStage {
  /// The threshold, the sizes of cells and regions, and the maximum number of regions.
  public typealias Options = MotionOptions

  /// `motion`, the kind in documents.
  public static let kind = "motion"
  /// One line for `retake pipeline stages`.
  public static let summary = "finds moving regions by the difference to the frame before"
  /// Only GRAY8; frames in other formats get a `convert` before the stage.
  public static let inputFormats: [PixelFormat] = [.gray]
  /// The only class, for all detections: `motion`, with the index 0.
  static let classNames = ["motion"]

  /// The checked options.
  public let options: MotionOptions
  private var difference = FrameDifference()
  private var regions = RegionFinder()

  /// - Throws: `OptionError` for a number that is out of bounds.
  public init(options: MotionOptions) throws {
    try OptionError.require(options.threshold, "threshold", in: 1...255)
    try OptionError.require(options.minimumArea, "minimumArea", in: 1...1_000_000)
    try OptionError.require(options.maximumRegions, "maximumRegions", in: 1...1_024)
    try OptionError.require(options.cell, "cell", in: 1...64)
    try OptionError.require(options.reach, "reach", in: 1...8)
    self.options = options
  }

  /// Returns the moving regions, sorted by y, x, width and height. The list is empty for the first
  /// frame and after a change of size.
  public mutating func process(_ frame: Frame, _ context: StageContext) -> Detections {
    let changed = difference.advance(
      to: frame.luma(), threshold: UInt8(options.threshold), cell: options.cell)
    guard changed else { return Detections([], classNames: Self.classNames) }
    let found = regions.regions(
      in: difference, pixelsMin: max(1, options.cell * options.cell / 8), reach: options.reach)
    // The first order decides which regions the bound keeps, the second is the order of the
    // results.
    let kept = found.filter { $0.area >= options.minimumArea }
      .sorted(by: MovingRegion.isLarger).prefix(options.maximumRegions)
    return Detections(
      kept.sorted(by: MovingRegion.isEarlier).map(\.detection), classNames: Self.classNames)
  }

  /// Forgets the previous frame, so the next frame has no detections.
  public mutating func reset() {
    difference = FrameDifference()
    regions = RegionFinder()
  }
}

extension Motion: ShortMemory {
  /// The previous frame, also if it has another size.
  package static var callsRemembered: Int { 1 }
}

extension MovingRegion {
  fileprivate var detection: Detection {
    Detection(
      box: Box(x: Double(left), y: Double(top), width: Double(width), height: Double(height)),
      score: Double(area) / Double(width * height))
  }
}
