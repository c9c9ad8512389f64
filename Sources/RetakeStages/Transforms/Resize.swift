import RetakeBuffers
import RetakeGraph

/// The target size, and the algorithm.
public struct ResizeOptions: StageOptions, Hashable {
  /// In pixels, 1 to 16,384.
  public var width = 224
  /// In pixels, 1 to 16,384.
  public var height = 224
  /// `automatic`, `area` or `bilinear`.
  public var algorithm = ScalingAlgorithm.automatic

  public init() {}

  public init(width: Int, height: Int, algorithm: ScalingAlgorithm = .automatic) {
    (self.width, self.height, self.algorithm) = (width, height, algorithm)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    algorithm = try container.choice(ScalingAlgorithm.self, forKey: .algorithm)
  }
}

/// Scales each frame, up or down, to the input size of a classifier: `Downsample` with other
/// defaults.
public struct Resize: PureStage {
  public typealias Options = ResizeOptions

  public static let kind = "resize"
  public static let summary = "scales each frame, large or small, to a classifier's input"
  /// A frame of that size is passed through.
  public static let keepsInput = true

  public let options: ResizeOptions
  private let scaling: FrameScaling

  /// - Throws: `OptionError` for a side that is out of bounds.
  public init(options: ResizeOptions) throws(OptionError) {
    scaling = try FrameScaling(
      width: options.width, height: options.height, algorithm: options.algorithm)
    self.options = options
  }

  public func view(of input: PictureShape) -> PictureView? {
    PictureView(scaling: input, width: options.width, height: options.height)
  }

  public func process(_ frame: Frame, _ context: StageContext) -> Frame { scaling.scaled(frame) }
}
