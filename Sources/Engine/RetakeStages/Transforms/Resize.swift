import RetakeGraph

/// Scales each frame, up or down, to the input size of a classifier.
package typealias Resize = FrameScaling<ResizeOptions>

/// The target size, and the algorithm.
package struct ResizeOptions: ScalingOptions, Hashable {
  package static let kind = "resize"
  package static let summary = "scales each frame, large or small, to a classifier's input"

  @OptionValue("width of the output in pixels, {range}", in: 1...ScalingAlgorithm.sideMax)
  package var width = 224
  @OptionValue("height of the output in pixels, {range}", in: 1...ScalingAlgorithm.sideMax)
  package var height = 224
  @OptionValue(ScalingAlgorithm.meaning) package var algorithm = ScalingAlgorithm.automatic

  package init() {}

  package init(width: Int, height: Int, algorithm: ScalingAlgorithm = .automatic) {
    (self.width, self.height, self.algorithm) = (width, height, algorithm)
  }
}
