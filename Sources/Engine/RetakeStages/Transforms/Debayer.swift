package import RetakeBuffers
import RetakeCore
package import RetakeGraph

/// The pattern of the samples.
package struct DebayerOptions: StageOptions, Hashable {
  @OptionValue(
    "rggb, bggr, gbrg or grbg: the colors of the first row, then of the second; required")
  package var pattern = ""

  package init() {}

  package init(pattern: Mosaic) { self.pattern = pattern.rawValue }
}

/// Makes colors of a sensor's raw samples, which a session keeps as gray.
///
/// The sample of a pixel's own color is kept. Each other color is the mean of the nearest samples of
/// that color, two or four, rounded half up; beyond an edge, the samples are mirrored at the edge
/// pixel. Samples of 8 bits become RGB24, deeper samples GBRP with as many bits. White balance and
/// gamma stay as the sensor's.
package struct Debayer: PureStage {
  package static let kind = "debayer"
  package static let summary = "makes colors of a sensor's raw samples (Bayer), bilinearly"
  package static let inputFormats =
    [.gray] + [9, 10, 12, 14, 16].map { PixelFormat.gray(bits: $0) }

  package let options: DebayerOptions
  private let pattern: Mosaic

  /// - Throws: `OptionError` for an unknown pattern.
  package init(options: DebayerOptions) throws {
    guard let pattern = Mosaic(rawValue: options.pattern) else {
      let names = "rggb, bggr, gbrg or grbg; retake session info names the pattern of a recording"
      throw OptionError(
        key: "pattern",
        message: options.pattern.isEmpty ? "is required: \(names)" : "must be \(names)")
    }
    (self.options, self.pattern) = (options, pattern)
  }

  package func outputFormat(for input: PixelFormat) -> PixelFormat {
    input.isDeep ? .gbr(bits: input.bitsPerSample) : .rgb
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame {
    var made = context.makeFrame(
      format: outputFormat(for: frame.format), width: frame.width, height: frame.height,
      range: .full, matrix: .identity)
    (made.rotationDegrees, made.isMirrored) = (frame.rotationDegrees, frame.isMirrored)
    made.sampleAspect = frame.sampleAspect
    frame.writeColors(of: pattern, to: &made)
    return made.finish()
  }
}
