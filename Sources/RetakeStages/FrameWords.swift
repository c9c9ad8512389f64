import RetakeBuffers
import RetakeCore
import RetakeGraph
import RetakeMedia

/// The built-in stages as words. A number out of its bounds is a programmer's mistake here, and
/// stops the program with the rule that it breaks.
extension PipelineChain where Output == Frame {
  /// Scales each frame to a size in pixels.
  public func downsample(
    width: Int, height: Int, algorithm: MediaScaler.Algorithm = .area, id: String? = nil
  ) -> PipelineChain<Frame> {
    stage(
      built {
        try Downsample(
          options: DownsampleOptions(width: width, height: height, algorithm: algorithm))
      }, id: id)
  }

  /// Cuts a rectangle out of each frame, without copying; see `Crop` for odd offsets.
  public func crop(
    x: Int, y: Int, width: Int, height: Int, id: String? = nil
  ) -> PipelineChain<Frame> {
    stage(
      built { try Crop(options: CropOptions(x: x, y: y, width: width, height: height)) }, id: id)
  }

  /// Keeps the luma of each frame as GRAY8.
  public func grey(id: String? = nil) -> PipelineChain<Frame> { stage(Grey(), id: id) }

  /// Converts each frame to a pixel format.
  public func convert(to format: PixelFormat, id: String? = nil) -> PipelineChain<Frame> {
    stage(Convert(options: ConvertOptions(format: format)), id: id)
  }

  /// Measures mean, min, max and standard deviation of the luma.
  public func luminance(id: String? = nil) -> PipelineChain<Scalars> {
    stage(Luminance(), id: id)
  }

  /// Measures mean red, green and blue in the middle of each frame.
  public func fingertip(percent: Int = 50, id: String? = nil) -> PipelineChain<Scalars> {
    stage(built { try Fingertip(options: FingertipOptions(percent: percent)) }, id: id)
  }

  /// Gives the digest of each frame.
  public func digest(id: String? = nil) -> PipelineChain<FrameDigest> {
    stage(FrameDigester(), id: id)
  }

  /// Finds moving regions by the difference to the frame before.
  public func motion(threshold: Int = 24, id: String? = nil) -> PipelineChain<Detections> {
    motion(options: MotionOptions(threshold: threshold), id: id)
  }

  /// Finds moving regions by the difference to the frame before, with all options.
  public func motion(options: MotionOptions, id: String? = nil) -> PipelineChain<Detections> {
    stage(built { try Motion(options: options) }, id: id)
  }
}
