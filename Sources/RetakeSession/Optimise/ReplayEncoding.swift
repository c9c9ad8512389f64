import RetakeBuffers
import RetakeCore
import RetakeMedia

/// How the frames of a replay copy are encoded.
public struct ReplayEncoding: Sendable {
  /// As people write it: `raw`, `mpeg4`.
  public let name: String
  /// The encoder gives every pixel back where it takes the frames' own format.
  public let isLossless: Bool
  /// Each packet is decoded alone.
  package let isIntraOnly: Bool
  /// What a frame is converted to before it is encoded.
  package let format: @Sendable (PixelFormat) -> PixelFormat
  /// For a frame that has that format.
  package let settings: @Sendable (Frame) -> EncoderSettings

  package init(
    name: String, isLossless: Bool, isIntraOnly: Bool,
    format: @escaping @Sendable (PixelFormat) -> PixelFormat,
    settings: @escaping @Sendable (Frame) -> EncoderSettings
  ) {
    (self.name, self.isLossless, self.isIntraOnly) = (name, isLossless, isIntraOnly)
    (self.format, self.settings) = (format, settings)
  }

  /// The pixels as they are: nothing is decoded when they are read. Exact for every format.
  public static let raw = ReplayEncoding(
    name: "raw", isLossless: true, isIntraOnly: true, format: { $0 }
  ) { frame in
    EncoderSettings(encoder: "rawvideo", for: frame, timeBase: TimeBase.milliseconds)
  }

  /// As the session's index names the raw pictures' codec.
  static let rawCodec = "rawvideo"

  /// Frames from one key frame to the next: decoders work beside each other on stretches of 24, so
  /// that two groups make one.
  package static let groupFrames = 12

  /// The container that the packets lie in. Matroska refuses some formats of raw pictures.
  var container: String { name == Self.raw.name ? "nut" : "matroska" }
}

extension TimeBase {
  static let milliseconds = TimeBase(1, 1_000)
}
