import CFFmpeg
import RetakeBuffers

extension MediaEncoder {
  func configure(_ context: UnsafeMutablePointer<AVCodecContext>) {
    // SAFETY: the context is fresh and not open yet; only plain fields are set.
    context.pointee.width = Int32(clamping: settings.width)
    context.pointee.height = Int32(clamping: settings.height)
    context.pointee.pix_fmt = Self.named(settings)
    context.pointee.color_range = settings.range.ffmpeg
    context.pointee.colorspace = settings.matrix.ffmpeg
    if let transfer = settings.color.ffmpegTransfer { context.pointee.color_trc = transfer }
    if let primaries = settings.color.ffmpegPrimaries {
      context.pointee.color_primaries = primaries
    }
    context.pointee.sample_aspect_ratio = AVRational(
      num: settings.sampleAspect.numerator, den: settings.sampleAspect.denominator)
    context.pointee.time_base = AVRational(
      num: settings.timeBase.numerator, den: settings.timeBase.denominator)
    if let rate = settings.frameRate {
      context.pointee.framerate = AVRational(num: rate.numerator, den: rate.denominator)
    }
    context.pointee.gop_size = Int32(clamping: settings.keyFrameInterval)
    context.pointee.max_b_frames = Int32(clamping: settings.bidirectionalFramesMax)
    context.pointee.thread_count = Int32(clamping: max(1, settings.threads))
    context.pointee.idct_algo = FF_IDCT_SIMPLE
    context.pointee.flags |= retake_codec_bitexact
    // Otherwise MPEG-2 delays one frame, and so do its decoders.
    if settings.encoder == "mpeg2video", settings.bidirectionalFramesMax == 0 {
      context.pointee.flags |= retake_codec_low_delay
    }
    if settings.headersInContainer { context.pointee.flags |= retake_codec_global_header }
    if let rate = settings.bitsPerSecond { context.pointee.bit_rate = Int64(rate) }
    if let quantizer = settings.quantizer {
      context.pointee.flags |= retake_codec_fixed_quality
      context.pointee.global_quality = FF_QP2LAMBDA * Int32(clamping: quantizer)
    }
    // Limited range in JPEG is decoded correctly, although the standard does not intend it.
    context.pointee.strict_std_compliance = FF_COMPLIANCE_UNOFFICIAL
  }

  /// The caller's options, after the options that disable lookahead in x264.
  static func options(_ settings: EncoderSettings) -> [(name: String, value: String)] {
    if settings.encoder == "ffv1", !isSliced(settings) {
      return unslicedOptions(settings)
    }
    let own = settings.options.map { ($0.name, $0.value) }
    let wantsNoDelay =
      settings.encoder.hasPrefix("libx264") && settings.bidirectionalFramesMax == 0
      && !settings.options.contains { $0.name == "tune" }
    return (wantsNoDelay ? [("tune", "zerolatency")] : []) + own
  }

  /// FFV1 version 3 divides images into slices. The encoder rejects some sizes that are too small
  /// for them; for others it loses slices of one column or row without an error.
  private static let slicedPixelsMin = 16

  private static func isSliced(_ settings: EncoderSettings) -> Bool {
    guard min(settings.width, settings.height) >= slicedPixelsMin else { return false }
    let step = settings.format.chromaStep
    // It loses the last chroma of 4:1:1 and 4:1:0 where a slice begins inside of a chroma sample.
    return [(settings.width, step.across), (settings.height, step.down)].allSatisfy { side, step in
      step <= 2 || side.isMultiple(of: 2 * step)
    }
  }

  /// Options for FFV1 version 1, which has no slices.
  static func unslicedOptions(_ settings: EncoderSettings) -> [(name: String, value: String)] {
    let others = settings.options.filter { !["level", "slicecrc", "slices"].contains($0.name) }
    return others.map { ($0.name, $0.value) } + [("level", "1")]
  }

  /// FFmpeg's format for the settings; JPEG has separate names for full range.
  private static func named(_ settings: EncoderSettings) -> AVPixelFormat {
    guard settings.encoder == "mjpeg", settings.range == .full else {
      return settings.format.ffmpeg
    }
    switch settings.format {
    case .i420: return AV_PIX_FMT_YUVJ420P
    case .i422: return AV_PIX_FMT_YUVJ422P
    case .i444: return AV_PIX_FMT_YUVJ444P
    default: return settings.format.ffmpeg
    }
  }

  /// x264 refuses a side that its chroma does not divide, and does not say so in its error.
  static func checkSize(_ settings: EncoderSettings) throws {
    guard settings.encoder.hasPrefix("libx264") else { return }
    let step = settings.format.chromaStep
    // With 4:2:0 both, with 4:2:2 the width alone.
    guard !settings.width.isMultiple(of: step.across) || !settings.height.isMultiple(of: step.down)
    else { return }
    throw MediaError.encoderSize(
      encoder: settings.encoder, format: settings.format.rawValue, width: settings.width,
      height: settings.height, sides: step.down > 1 ? "width and height" : "width")
  }

  static func pixelFormat(
    _ settings: EncoderSettings, codec: UnsafePointer<AVCodec>
  ) throws -> AVPixelFormat {
    let wanted = named(settings)
    guard let list = retake_pixel_formats(codec) else { return wanted }
    var supported: [PixelFormat] = []
    // SAFETY: the library's list of formats ends with NONE.
    var index = 0
    while list[index] != AV_PIX_FMT_NONE {
      if list[index] == wanted { return wanted }
      if let format = PixelFormat(native: list[index]), !supported.contains(format) {
        supported.append(format)
      }
      index += 1
    }
    throw MediaError.encoderFormat(
      encoder: settings.encoder, format: settings.format.rawValue,
      supported: supported.map(\.rawValue))
  }
}
