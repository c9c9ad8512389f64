import RetakeBuffers
import RetakeGraph

/// The size to scale to, and how.
public struct DownsampleOptions: StageOptions, Hashable {
  /// Pixels, 1 to 16,384.
  public var width = 640
  /// Pixels, 1 to 16,384.
  public var height = 480
  /// `area`, `bilinear` or `automatic`.
  public var algorithm = ScalingAlgorithm.area

  public init() {}

  public init(width: Int, height: Int, algorithm: ScalingAlgorithm = .area) {
    (self.width, self.height, self.algorithm) = (width, height, algorithm)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    algorithm = try container.choice(ScalingAlgorithm.self, forKey: .algorithm)
  }
}

/// Scales each frame to one size, whatever size it comes in; format, range and matrix stay, and so
/// does the frame itself when it has that size already. The whole picture is kept: where the shape
/// changes, so does the aspect of its pixels.
///
/// Scaling is FFmpeg's, with the flags that give the same bits on every machine. `Resize` is the
/// same with the defaults of a classifier's input.
public struct Downsample: PureStage {
  public typealias Options = DownsampleOptions

  public static let kind = "downsample"
  public static let summary = "scales each frame to a size in pixels"
  /// A frame of that size passes as it is.
  public static let keepsInput = true

  public let options: DownsampleOptions
  private let scaling: FrameScaling

  /// - Throws: `OptionError` for a side out of its bounds.
  public init(options: DownsampleOptions) throws(OptionError) {
    scaling = try FrameScaling(
      width: options.width, height: options.height, algorithm: options.algorithm)
    self.options = options
  }

  public func view(of input: PictureShape) -> PictureView? {
    PictureView(scaling: input, width: options.width, height: options.height)
  }

  public func process(_ frame: Frame, _ context: StageContext) -> Frame { scaling.scaled(frame) }
}
