package import RetakeBuffers
package import RetakeGraph

/// The target size, and the algorithm.
package struct DownsampleOptions: StageOptions, Hashable {
  package static let explanations: [String: String] = [
    "algorithm":
      "'area' (the mean of the covered pixels), 'bilinear', or 'automatic': area "
      + "where the image shrinks",
    "height": "height of the output in pixels, 1 to 16384",
    "width": "width of the output in pixels, 1 to 16384",
  ]

  /// In pixels, 1 to 16,384.
  package var width = 640
  /// In pixels, 1 to 16,384.
  package var height = 480
  /// `area`, `bilinear` or `automatic`.
  package var algorithm = ScalingAlgorithm.area

  package init() {}

  package init(width: Int, height: Int, algorithm: ScalingAlgorithm = .area) {
    (self.width, self.height, self.algorithm) = (width, height, algorithm)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    width = try container.decode(Int.self, forKey: .width)
    height = try container.decode(Int.self, forKey: .height)
    algorithm = try container.choice(ScalingAlgorithm.self, forKey: .algorithm)
  }
}

/// Scales each frame to one size, whatever its input size; format, range and matrix are kept. A
/// frame that already has that size is passed through. No part of the image is cut off: if its
/// shape changes, so does the pixel aspect.
///
/// Scaling uses FFmpeg, with flags that produce the same bits on every machine. `Resize` is the
/// same stage with the defaults of a classifier's input.
package struct Downsample: PureStage {
  package typealias Options = DownsampleOptions

  package static let kind = "downsample"
  package static let summary = "scales each frame to a size in pixels"
  /// A frame of that size is passed through.
  package static let keepsInput = true

  package let options: DownsampleOptions
  private let scaling: FrameScaling

  /// - Throws: `OptionError` for a side that is out of bounds.
  package init(options: DownsampleOptions) throws {
    scaling = try FrameScaling(
      width: options.width, height: options.height, algorithm: options.algorithm)
    self.options = options
  }

  package func view(of input: ImageShape) -> ImageView? {
    ImageView(scaling: input, width: options.width, height: options.height)
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame { scaling.scaled(frame) }
}
