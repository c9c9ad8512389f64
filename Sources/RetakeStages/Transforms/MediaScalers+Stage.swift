import RetakeBuffers
import RetakeGraph
import RetakeMedia

extension MediaScalers {
  /// Scales and converts in a stage's body: what FFmpeg refuses fails the frame, recoverably, with
  /// the code of the media error.
  func stageFrame(
    _ frame: Frame, width: Int? = nil, height: Int? = nil, format: PixelFormat? = nil
  ) throws(StageError) -> Frame {
    do throws(MediaError) {
      return try scale(frame, width: width, height: height, format: format)
    } catch {
      throw StageError(code: error.code, message: error.description)
    }
  }
}
