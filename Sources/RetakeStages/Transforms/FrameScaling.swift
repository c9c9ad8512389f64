import RetakeBuffers
import RetakeGraph
import RetakeMedia

/// How a picture is scaled.
public enum ScalingAlgorithm: String, Hashable, Sendable, Codable, CaseIterable {
  /// `area` where the picture shrinks in a direction, else `bilinear`.
  case automatic
  /// The mean of what a new pixel covers: for shrinking.
  case area
  case bilinear

  fileprivate var media: MediaScaler.Algorithm? {
    switch self {
    case .automatic: nil
    case .area: .area
    case .bilinear: .bilinear
    }
  }
}

/// The size to scale to, and how, for the stages that scale. It cannot fail, so that a replay need
/// not wait for its outcome.
struct FrameScaling: Sendable {
  let width: Int
  let height: Int
  private let scalers: MediaScalers

  init(width: Int, height: Int, algorithm: ScalingAlgorithm) throws(OptionError) {
    try OptionError.require(width, "width", in: 1...StageLimits.side)
    try OptionError.require(height, "height", in: 1...StageLimits.side)
    (self.width, self.height) = (width, height)
    scalers = MediaScalers(algorithm: algorithm.media)
  }

  /// Old pixels to one new one, in each direction, up to which FFmpeg scales. Beyond, the weights of
  /// its fixed point get coarse (a plain 60 became 51), and at 256 it refuses some shapes.
  private static let shrinkageMax = 64

  /// What shrinks further gets the mean of what each new pixel covers, in integers.
  func scaled(_ frame: Frame) -> Frame {
    if frame.width == width, frame.height == height { return frame }
    let isFar =
      frame.width > Self.shrinkageMax * width || frame.height > Self.shrinkageMax * height
    if isFar { return frame.boxMeans(width: width, height: height) }
    do throws(MediaError) {
      return try scalers.scale(frame, width: width, height: height)
    } catch {
      guard !error.isOutOfMemory else {
        return frame.withoutPixels(format: frame.format, width: width, height: height)
      }
      return frame.boxMeans(width: width, height: height)
    }
  }
}
