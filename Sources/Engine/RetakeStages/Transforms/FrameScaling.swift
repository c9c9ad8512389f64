package import RetakeBuffers
package import RetakeGraph
import RetakeMedia

/// The options of a stage that scales: the target size, and the algorithm.
package protocol ScalingOptions: StageOptions {
  static var kind: String { get }
  static var summary: String { get }
  var width: Int { get }
  var height: Int { get }
  var algorithm: ScalingAlgorithm { get }
}

/// Scales each frame to one size, whatever its input size; format, range and matrix are kept. A
/// frame that already has that size is passed through. No part of the image is cut off: if its
/// shape changes, so does the pixel aspect.
///
/// Scaling uses FFmpeg, with the flags that give the same bits on every machine. It cannot fail, so
/// a replay does not have to wait for its outcome.
package struct FrameScaling<Options: ScalingOptions>: PureStage {
  package static var kind: String { Options.kind }
  package static var summary: String { Options.summary }
  /// A frame of that size is passed through.
  package static var keepsInput: Bool { true }

  package let options: Options
  private let scalers: MediaScalers

  /// - Throws: `OptionError` for a side that is out of bounds.
  package init(options: Options) throws {
    try options.checkRanges()
    self.options = options
    scalers = MediaScalers(algorithm: options.algorithm.media)
  }

  package func view(of input: ImageShape) -> ImageView? {
    ImageView(scaling: input, width: options.width, height: options.height)
  }

  /// The largest ratio of old to new pixels, in each direction, up to which FFmpeg is used. Beyond
  /// it, the weights of FFmpeg's fixed-point arithmetic become too coarse (a constant 60 became
  /// 51), and at 256 it rejects some shapes.
  private static var shrinkageMax: Int { 64 }

  /// Beyond that ratio, each new pixel is the mean of the pixels that it covers, in integer
  /// arithmetic.
  package func process(_ frame: Frame, _ context: StageContext) -> Frame {
    let (width, height) = (options.width, options.height)
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
