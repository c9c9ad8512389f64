package import RetakeBuffers
package import RetakeCore
package import RetakeMedia

/// The encoding of a replay copy's frames.
package struct ReplayEncoding: Sendable {
  /// The name that users type: `raw`, `mpeg4`.
  package let name: String
  /// Whether the encoder preserves every pixel if it accepts the frames' own format.
  package let isLossless: Bool
  /// Whether each packet can be decoded alone.
  package let isIntraOnly: Bool
  /// The pixel format that a frame is converted to before it is encoded.
  package let format: @Sendable (PixelFormat) -> PixelFormat
  /// Settings for a frame that has that format.
  package let settings: @Sendable (Frame) -> EncoderSettings

  package init(
    name: String, isLossless: Bool, isIntraOnly: Bool,
    format: @escaping @Sendable (PixelFormat) -> PixelFormat,
    settings: @escaping @Sendable (Frame) -> EncoderSettings
  ) {
    (self.name, self.isLossless, self.isIntraOnly) = (name, isLossless, isIntraOnly)
    (self.format, self.settings) = (format, settings)
  }

  /// Raw pixels: reading needs no decoding. Lossless for every format.
  package static let raw = ReplayEncoding(
    name: "raw", isLossless: true, isIntraOnly: true, format: { $0 }
  ) { frame in
    EncoderSettings(encoder: "rawvideo", for: frame, timeBase: TimeBase.milliseconds)
  }

  /// Codec name of raw images in the session's index.
  package static let rawCodec = "rawvideo"

  /// Number of frames from one key frame to the next. Decoders work in parallel on stretches of 24
  /// frames, so a stretch has two groups.
  package static let groupFrames = 12

  /// The container of the packets. Matroska does not support some formats of raw images.
  package var container: String { name == Self.raw.name ? "nut" : "matroska" }
}

extension TimeBase {
  package static let milliseconds = TimeBase(1, 1_000)
}
