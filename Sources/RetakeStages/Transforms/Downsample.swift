import RetakeBuffers
import RetakeGraph

/// The target size, and the algorithm.
public struct DownsampleOptions: StageOptions, Hashable {
  /// In pixels, 1 to 16,384.
  public var width = 640
  /// In pixels, 1 to 16,384.
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

/// Scales each frame to one size, whatever its input size; format, range and matrix are kept. A
/// frame that already has that size is passed through. The whole image is kept: if its shape
/// changes, so does the pixel aspect.
///
/// Scaling uses FFmpeg, with the flags that give the same bits on every machine. `Resize` is the
/// same stage with the defaults of a classifier's input.
public struct Downsample: PureStage {
  public typealias Options = DownsampleOptions

  public static let kind = "downsample"
  public static let summary = "scales each frame to a size in pixels"
  /// A frame of that size is passed through.
  public static let keepsInput = true

  public let options: DownsampleOptions
  private let scaling: FrameScaling

  /// - Throws: `OptionError` for a side that is out of bounds.
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
