package import RetakeBuffers
package import RetakeGraph
import RetakeMedia

/// The pixel format to convert to.
package struct ConvertOptions: StageOptions, Hashable {
  package static let explanations: [String: String] = [
    "format": "I420, I422, I444, NV12, GRAY8, RGB24, BGRA or RGBA"
  ]

  /// `I420`, `I422`, `I444`, `NV12`, `GRAY8`, `RGB24`, `BGRA` or `RGBA`.
  package var format = PixelFormat.i420

  package init() {}

  package init(format: PixelFormat) {
    self.format = format
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    format = try container.choice(PixelFormat.self, forKey: .format)
  }
}

/// Converts each frame to a pixel format; a frame with that format is passed through.
///
/// The conversion to GRAY8 keeps the luma unchanged, like `Grey`. All other conversions use FFmpeg,
/// with the flags that give the same bits on every machine; between these formats they cannot fail.
/// The engine inserts such a node before a stage that does not accept the format it would get.
package struct Convert: PureStage {
  package typealias Options = ConvertOptions

  package static let kind = "convert"
  package static let summary = "converts each frame to a pixel format"
  /// A frame with that format is passed through, and luma is a view.
  package static let keepsInput = true

  package let options: ConvertOptions
  private let scalers = MediaScalers()

  package init(options: ConvertOptions) {
    self.options = options
  }

  package func outputFormat(for input: PixelFormat) -> PixelFormat { options.format }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame {
    if frame.format == options.format { return frame }
    if options.format == .grey { return frame.luma() }
    do throws(MediaError) {
      return try scalers.scale(frame, format: options.format)
    } catch {
      // This stage cannot throw. The engine discards the frame and reports the lack of memory
      // (`FrameShortage`).
      guard !error.isOutOfMemory else {
        return frame.withoutPixels(
          format: options.format, width: frame.width, height: frame.height)
      }
      preconditionFailure("FFmpeg converts between all of our formats: \(error)")
    }
  }
}
