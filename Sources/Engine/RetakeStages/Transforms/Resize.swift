package import RetakeBuffers
package import RetakeGraph

/// The target size, and the algorithm.
package struct ResizeOptions: StageOptions, Hashable {
  package static let explanations: [String: String] = [
    "algorithm":
      "'area' (the mean of the covered pixels), 'bilinear', or 'automatic': area "
      + "where the image shrinks",
    "height": "height of the output in pixels, 1 to 16384",
    "width": "width of the output in pixels, 1 to 16384",
  ]

  /// In pixels, 1 to 16,384.
  package var width = 224
  /// In pixels, 1 to 16,384.
  package var height = 224
  /// `automatic`, `area` or `bilinear`.
  package var algorithm = ScalingAlgorithm.automatic

  package init() {}

  package init(width: Int, height: Int, algorithm: ScalingAlgorithm = .automatic) {
    (self.width, self.height, self.algorithm) = (width, height, algorithm)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    algorithm = try container.choice(ScalingAlgorithm.self, forKey: .algorithm)
  }
}

/// Scales each frame, up or down, to the input size of a classifier: `Downsample` with other
/// defaults.
package struct Resize: PureStage {
  package typealias Options = ResizeOptions

  package static let kind = "resize"
  package static let summary = "scales each frame, large or small, to a classifier's input"
  /// A frame of that size is passed through.
  package static let keepsInput = true

  package let options: ResizeOptions
  private let scaling: FrameScaling

  /// - Throws: `OptionError` for a side that is out of bounds.
  package init(options: ResizeOptions) throws {
    scaling = try FrameScaling(
      width: options.width, height: options.height, algorithm: options.algorithm)
    self.options = options
  }

  package func view(of input: ImageShape) -> ImageView? {
    ImageView(scaling: input, width: options.width, height: options.height)
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame { scaling.scaled(frame) }
}
