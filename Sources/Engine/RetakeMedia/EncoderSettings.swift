package import RetakeBuffers
package import RetakeCore

/// How to encode a track. By default the encoder has no delay: it returns the packet of each frame
/// at once.
package struct EncoderSettings: Hashable, Sendable {
  package struct Option: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
      self.name = name
      self.value = value
    }
  }

  /// FFmpeg's name: ffv1, mpeg4, mjpeg, mpeg2video, or libx264 if available.
  package var encoder: String
  /// In pixels.
  package var width: Int
  package var height: Int
  package var format: PixelFormat
  package var range: ColorRange
  package var matrix: ColorMatrix
  /// Only the transfer and the primaries; unknown names are left out.
  package var color = ColorLabels()
  package var sampleAspect: SampleAspect = .square
  /// Time base of the frames' presentation times.
  package var timeBase: TimeBase
  package var frameRate: FrameRate?
  /// Maximum number of frames from one key frame to the next.
  package var keyFrameInterval = 30
  package var bidirectionalFramesMax = 0
  package var threads = 1
  /// Fixed quality, 1 (best) to 31, for mpeg4, mjpeg and mpeg2video; nil uses the bit rate.
  package var quantizer: Int?
  package var bitsPerSecond: Int?
  /// Store the headers in the container instead of in every key packet, as Matroska and MP4
  /// require.
  package var headersInContainer = true
  /// The encoder's own options, applied in this order.
  package var options: [Option] = []

  package init(
    encoder: String, width: Int, height: Int, format: PixelFormat, range: ColorRange = .limited,
    matrix: ColorMatrix? = nil, timeBase: TimeBase, frameRate: FrameRate? = nil
  ) {
    self.encoder = encoder
    self.width = width
    self.height = height
    self.format = format
    self.range = range
    self.matrix = matrix ?? (format.isYUV ? .assumed(height: height) : .identity)
    self.timeBase = timeBase
    self.frameRate = frameRate
  }

  /// Settings for frames like this one.
  package init(encoder: String, for frame: Frame, timeBase: TimeBase) {
    self.init(
      encoder: encoder, width: frame.width, height: frame.height, format: frame.format,
      range: frame.range, matrix: frame.matrix, timeBase: timeBase)
    sampleAspect = frame.sampleAspect
  }
}
