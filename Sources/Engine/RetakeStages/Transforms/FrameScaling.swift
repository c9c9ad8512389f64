import RetakeBuffers
import RetakeGraph
import RetakeMedia

/// The algorithm for scaling an image.
public enum ScalingAlgorithm: String, Hashable, Sendable, Codable, CaseIterable {
  /// `area` if the image shrinks in a direction, otherwise `bilinear`.
  case automatic
  /// The mean of the pixels that a new pixel covers; for shrinking.
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

/// The target size and the algorithm, for the stages that scale. Scaling cannot fail, so a replay
/// does not have to wait for its outcome.
struct FrameScaling: Sendable {
  let width: Int
  let height: Int
  private let scalers: MediaScalers

  init(width: Int, height: Int, algorithm: ScalingAlgorithm) throws {
    try OptionError.require(width, "width", in: 1...StageLimits.side)
    try OptionError.require(height, "height", in: 1...StageLimits.side)
    (self.width, self.height) = (width, height)
    scalers = MediaScalers(algorithm: algorithm.media)
  }

  /// The largest ratio of old to new pixels, in each direction, up to which FFmpeg is used. Beyond
  /// it, the weights of FFmpeg's fixed-point arithmetic become too coarse (a constant 60 became
  /// 51), and at 256 it rejects some shapes.
  private static let shrinkageMax = 64

  /// Beyond that ratio, each new pixel is the mean of the pixels that it covers, in integer
  /// arithmetic.
  func scaled(_ frame: Frame) -> Frame {
    if frame.width == width, frame.height == height { return frame }
    let isFar =
      frame.width > Self.shrinkageMax * width || frame.height > Self.shrinkageMax * height
    if isFar { return frame.boxMeans(width: width, height: height) }
    do {
      return try scalers.scale(frame, width: width, height: height)
    } catch {
      // As in `Convert`: the frame is discarded, and the lack of memory is reported.
      guard !error.isOutOfMemory else {
        return frame.withoutPixels(format: frame.format, width: width, height: height)
      }
      // FFmpeg rejects some shapes. Scaling must not fail, or a replay would wait for each outcome.
      return frame.boxMeans(width: width, height: height)
    }
  }
}
