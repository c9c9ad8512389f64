import RetakeBuffers
import RetakeGraph
import RetakeMedia

/// The size to scale to, and how.
public struct DownsampleOptions: StageOptions, Hashable {
  /// Pixels, 1 to 16,384.
  public var width = 640
  /// Pixels, 1 to 16,384.
  public var height = 480
  /// `area` (the mean of what a new pixel covers, for shrinking) or `bilinear`.
  public var algorithm = MediaScaler.Algorithm.area

  public init() {}

  public init(width: Int, height: Int, algorithm: MediaScaler.Algorithm = .area) {
    (self.width, self.height, self.algorithm) = (width, height, algorithm)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    algorithm = try container.choice(MediaScaler.Algorithm.self, forKey: .algorithm)
  }
}

/// Scales each frame to one size, whatever size it comes in; format, range and matrix stay, and so
/// does the frame itself when it has that size already. The whole picture is kept: where the shape
/// changes, so does the aspect of its pixels.
///
/// Scaling is FFmpeg's, with the flags that give the same bits on every machine.
public struct Downsample: PureStage {
  public typealias Options = DownsampleOptions

  public static let kind = "downsample"
  public static let summary = "scales each frame to a size in pixels"

  public let options: DownsampleOptions
  private let scalers: MediaScalers

  /// - Throws: `OptionError` for a side out of its bounds.
  public init(options: DownsampleOptions) throws(OptionError) {
    try OptionError.require(options.width, "width", in: 1...StageLimits.side)
    try OptionError.require(options.height, "height", in: 1...StageLimits.side)
    self.options = options
    scalers = MediaScalers(algorithm: options.algorithm)
  }

  public func process(_ frame: Frame, _ context: StageContext) throws(StageError) -> Frame {
    if frame.width == options.width, frame.height == options.height { return frame }
    return try scalers.stageFrame(frame, width: options.width, height: options.height)
  }
}
