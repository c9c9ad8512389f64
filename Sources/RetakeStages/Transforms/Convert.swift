import RetakeBuffers
import RetakeGraph
import RetakeMedia

/// The pixel format to convert to.
public struct ConvertOptions: StageOptions, Hashable {
  /// `I420`, `I422`, `I444`, `NV12`, `GRAY8`, `RGB24`, `BGRA` or `RGBA`.
  public var format = PixelFormat.i420

  public init() {}

  public init(format: PixelFormat) {
    self.format = format
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    format = try container.choice(PixelFormat.self, forKey: .format)
  }
}

/// Converts each frame to a pixel format; a frame with that format is passed through.
///
/// The conversion to GRAY8 keeps the luma unchanged, like `Grey`. All other conversions use FFmpeg,
/// with the flags that give the same bits on every machine; between these formats they cannot fail.
/// The engine inserts such a node before a stage that does not accept the format it would get.
public struct Convert: PureStage {
  public typealias Options = ConvertOptions

  public static let kind = "convert"
  public static let summary = "converts each frame to a pixel format"
  /// A frame with that format is passed through, and luma is a view.
  public static let keepsInput = true

  public let options: ConvertOptions
  private let scalers = MediaScalers()

  public init(options: ConvertOptions) {
    self.options = options
  }

  public func outputFormat(for input: PixelFormat) -> PixelFormat { options.format }

  public func process(_ frame: Frame, _ context: StageContext) -> Frame {
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
