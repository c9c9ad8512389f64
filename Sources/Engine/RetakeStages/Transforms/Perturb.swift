package import RetakeBuffers
import RetakeCore
package import RetakeGraph
import RetakeMedia

/// How frames get worse. The default of each option changes nothing.
package struct PerturbOptions: StageOptions, Hashable {
  @OptionValue("standard deviation of a Gaussian blur, in pixels, {range}", in: 0...16)
  package var blur = 0.0
  @OptionValue("percent by which the distance from black changes, {range}", in: -100...400)
  package var brightness = 0.0
  @OptionValue("standard deviation of the noise, in levels of a sample, {range}", in: 0...64)
  package var noise = 0.0
  @OptionValue(
    "quality of a JPEG image that each frame becomes and is read from; 0 = none, {range}",
    in: 0...100)
  package var jpeg = 0
  @OptionValue("selects the noise, {range}", in: 0...9_007_199_254_740_991)
  package var seed = 0

  package init() {}
}

/// Makes frames worse, as a dirty lens, another exposure, a small sensor or a compressed stream do:
/// blur, then brightness, then noise, then JPEG. A frame without any of them is passed through.
///
/// The arithmetic is exact and the same on every machine:
/// - blur: weights `exp(-x² / 2σ²)` in 1/65,536, horizontally, then vertically; beyond an edge the
///   sample at the edge counts. Chroma with every second sample is blurred half as far.
/// - brightness: `black + (sample - black) * (100 + percent) / 100`, rounded half up and limited
///   to 0...255; black is 16 in limited range, and 128 for chroma.
/// - noise: a sum of eight draws for each sample, which depend on the seed, the frame, and the place
///   of the sample, and on nothing else.
/// - JPEG: FFmpeg's encoder with the quantizer 1 (quality 100) to 31 (quality 1), then its decoder.
package struct Perturb: PureStage {
  package static let kind = "perturb"
  package static let summary = "blurs, darkens or brightens frames, adds noise, compresses"
  /// A frame that does not change is passed through.
  package static let keepsInput = true

  package let options: PerturbOptions
  private let blur: GaussianBlur?
  private let gainThousandths: Int
  private let noise: SampleNoise?
  private let scalers = MediaScalers()

  package init(options: PerturbOptions) throws {
    try options.checkRanges()
    self.options = options
    blur = GaussianBlur(sigma: options.blur)
    gainThousandths = 100_000 + Int((options.brightness * 1_000).rounded())
    noise = SampleNoise(sigma: options.noise, seed: UInt64(options.seed))
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Frame {
    var planes = SamplePlanes(of: frame)
    if let blur { planes.change { blur.apply(to: &$0) } }
    if gainThousandths != 100_000 { planes.change { $0.scale(gainThousandths) } }
    if let noise { planes.change { noise.apply(to: &$0, frame: context.frame) } }
    let changed = planes.isChanged ? planes.frame(like: frame, context) : frame
    guard options.jpeg > 0 else { return changed }
    do {
      return try compressed(changed, context)
    } catch {
      // As in `Convert`: the frame is discarded, and the lack of memory is reported.
      guard (error as? MediaError)?.isOutOfMemory == true else {
        preconditionFailure("FFmpeg reads the JPEG images that it writes: \(error)")
      }
      return frame.withoutPixels(format: frame.format, width: frame.width, height: frame.height)
    }
  }

  // MARK: JPEG

  /// JPEG has no longer sides. Such a frame is not compressed.
  private static let sideMax = 65_500

  private func compressed(_ frame: Frame, _ context: StageContext) throws -> Frame {
    guard max(frame.width, frame.height) <= Self.sideMax else { return frame }
    guard frame.format.isRGB else {
      let source = SamplePlanes(of: frame)
      let decoded = SamplePlanes(of: try Self.decoded(source.planar(frame), options.jpeg))
      return source.taking(decoded).frame(like: frame, context)
    }
    let planar = try scalers.scale(frame, format: .i444)
    let decoded = SamplePlanes(of: try Self.decoded(planar, options.jpeg))
    let yuv = SamplePlanes(of: planar).taking(decoded).frame(like: planar, context)
    let made = SamplePlanes(of: try scalers.scale(yuv, format: frame.format))
    return SamplePlanes(of: frame).taking(made).frame(like: frame, context)
  }

  /// - Parameter frame: I420, I422 or I444.
  private static func decoded(_ frame: Frame, _ quality: Int) throws -> Frame {
    var picture = frame
    // The samples are coded as they are, in either range.
    picture.range = .full
    var settings = EncoderSettings(encoder: "mjpeg", for: picture, timeBase: TimeBase(1, 1))
    settings.headersInContainer = false
    settings.quantizer = 1 + ((100 - quality) * 30 + 49) / 99
    let encoder = try MediaEncoder(settings)
    let packets = try encoder.encode(picture, pts: 0) + (try encoder.finish())
    guard let packet = packets.first else {
      throw MediaError.encode(encoder: "mjpeg", cause: "it returned no packet")
    }
    return try MediaImage.decode(packet.bytes)
  }
}
