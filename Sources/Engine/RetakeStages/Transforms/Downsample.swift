import RetakeGraph

/// Scales each frame to a size in pixels.
package typealias Downsample = FrameScaling<DownsampleOptions>

/// The target size, and the algorithm.
package struct DownsampleOptions: ScalingOptions, Hashable {
  package static let kind = "downsample"
  package static let summary = "scales each frame to a size in pixels"

  @OptionValue("width of the output in pixels, {range}", in: 1...ScalingAlgorithm.sideMax)
  package var width = 640
  @OptionValue("height of the output in pixels, {range}", in: 1...ScalingAlgorithm.sideMax)
  package var height = 480
  @OptionValue(ScalingAlgorithm.meaning) package var algorithm = ScalingAlgorithm.area

  package init() {}

  package init(width: Int, height: Int, algorithm: ScalingAlgorithm = .area) {
    (self.width, self.height, self.algorithm) = (width, height, algorithm)
  }
}
