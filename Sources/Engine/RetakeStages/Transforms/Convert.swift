package import RetakeBuffers
package import RetakeGraph
package import RetakeMedia

/// The pixel format to convert to.
package struct ConvertOptions: StageOptions, Hashable {
  @OptionValue("I420, I422, I444, NV12, GRAY8, RGB24, BGRA, RGBA or BGR24")
  package var format = PixelFormat.i420
  /// How samples of more than 8 bits become 8 bits.
  @OptionValue("none, or pq or hlg for HDR samples of 10 bits and more with that transfer")
  package var toneMap = ToneMap.none
  /// Whether these are the defaults, which list every option.
  private var isList = false

  private enum CodingKeys: String, CodingKey { case format, toneMap }

  package init() { isList = true }

  package init(format: PixelFormat, toneMap: ToneMap = .none) {
    (self.format, self.toneMap) = (format, toneMap)
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    format = try container.choice(TargetFormat.self, forKey: .format).format
    toneMap = try container.choice(ToneMap.self, forKey: .toneMap)
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(format, forKey: .format)
    // Left out at its default, so that pipelines from before the option keep their digest.
    if isList || toneMap != .none { try container.encode(toneMap, forKey: .toneMap) }
  }
}

/// A format that frames are converted to.
private struct TargetFormat: RawRepresentable, CaseIterable {
  static let allCases = (PixelFormat.basic + [.bgr]).map { TargetFormat(format: $0) }

  let format: PixelFormat

  var rawValue: String { format.rawValue }

  private init(format: PixelFormat) { self.format = format }

  init?(rawValue: String) {
    guard let format = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
    self = format
  }
}

/// Converts each frame to a pixel format with 8 bits a sample; a frame with that format is passed
/// through.
///
/// Samples of more bits are first rounded to 8 (`Frame.reducedToEightBits`), or mapped from HDR
/// (`ToneMap`), in integer arithmetic. The conversion to GRAY8 keeps the luma unchanged, like
/// `Gray`. All other conversions use FFmpeg, with flags that produce the same bits on every
/// machine; between these formats they cannot fail. The engine inserts such a node before a stage
/// that does not accept the format it would get.
package struct Convert: PureStage {
  package static let kind = "convert"
  package static let summary = "converts each frame to a pixel format"
  package static let inputFormats = PixelFormat.allCases
  /// A frame with that format is passed through, and luma is a view.
  package static let keepsInput = true

  package let options: ConvertOptions
  private let scalers = MediaScalers()
  private let mapper: ToneMapper?

  package init(options: ConvertOptions) {
    self.options = options
    mapper = ToneMapper(options.toneMap)
  }

  package func outputFormat(for input: PixelFormat) -> PixelFormat { options.format }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame {
    if frame.format == options.format { return frame }
    do {
      return try converted(try withEightBits(frame))
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

  private func withEightBits(_ frame: Frame) throws(MediaError) -> Frame {
    guard frame.format.isDeep else { return frame }
    guard let mapper else { return try frame.reducedToEightBits() }
    return try frame.toneMapped(mapper)
  }

  private func converted(_ frame: Frame) throws(MediaError) -> Frame {
    if frame.format == options.format { return frame }
    if options.format == .gray { return frame.luma() }
    return try scalers.scale(frame, format: options.format)
  }
}
