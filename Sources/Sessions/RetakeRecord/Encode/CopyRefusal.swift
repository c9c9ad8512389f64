import RetakeBuffers
import RetakeMedia

/// Why packets cannot be stored unchanged.
enum CopyRefusal: Error, CustomStringConvertible {
  case noPackets
  case codec(String)
  case format(String)
  /// Frames are shown in a different order than their packets.
  case reordered(frames: Int)
  case noParameterSets
  /// A packet does not show the image it contains, or not for the first time.
  case shownAgain

  var description: String {
    switch self {
    case .noPackets: "it delivers images, not packets"
    case .codec(let codec): "packets of \(codec) are not stored as they come"
    case .format(""): "its first images do not declare a pixel format"
    case .format(let format): "its images are \(format), which sessions do not support"
    case .reordered(let frames):
      "its packets come in another order than its frames, by up to \(frames)"
    case .noParameterSets: "it has no parameter sets before the first frame"
    case .shownAgain:
      "it shows images of earlier packets, as VP8 and VP9 with alternate references do"
    }
  }

  /// Codecs that Matroska stores byte for byte.
  private static let codecs: Set = [
    "ffv1", "h264", "hevc", "mjpeg", "mpeg4", "vp8", "vp9",
  ]

  /// - Returns: nil when the stream's packets can be stored.
  static func of(_ stream: MediaStream) -> CopyRefusal? {
    guard codecs.contains(stream.codec) else { return .codec(stream.codec) }
    guard PixelFormat(ffmpegName: stream.pixelFormatName) != nil else {
      return .format(stream.pixelFormatName)
    }
    return stream.delay > 0 ? .reordered(frames: stream.delay) : nil
  }

  static func isAnnexB(_ stream: MediaStream) -> Bool {
    // Both configuration records begin with their version, 1, and start codes with 0.
    ["h264", "hevc"].contains(stream.codec) && stream.extradata.first != 1
  }
}
