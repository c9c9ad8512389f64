import CFFmpeg
import RetakeBuffers

extension PixelFormat {
  /// The format in which the pictures of FFmpeg's format are frames: the same format, or the format
  /// into which they are rearranged without loss. nil for all other formats.
  init?(ffmpeg format: AVPixelFormat) {
    guard let known = FormatTable.known(format) else { return nil }
    self = known.format
  }

  /// The format with the same planes as FFmpeg's format, so that no pixels are copied; nil for all
  /// other formats.
  init?(native format: AVPixelFormat) {
    guard let known = FormatTable.known(format), known.isNative else { return nil }
    self = known.format
  }

  var ffmpeg: AVPixelFormat { av_get_pix_fmt(ffmpegName) }

  /// FFmpeg's name, such as `yuv420p`.
  package var ffmpegName: String {
    let deep = isDeep ? "\(bitsPerSample)le" : ""
    return switch layout {
    case .i420: "yuv420p" + deep
    case .i422: "yuv422p" + deep
    case .i444: "yuv444p" + deep
    case .i440: "yuv440p" + deep
    case .i411: "yuv411p"
    case .i410: "yuv410p"
    case .i420a: "yuva420p" + deep
    case .i422a: "yuva422p" + deep
    case .i444a: "yuva444p" + deep
    case .nv12: "nv12"
    case .gray: "gray" + deep
    case .rgb: "rgb24"
    case .bgr: "bgr24"
    case .bgra: "bgra"
    case .rgba: "rgba"
    case .gbr: "gbrp" + deep
    case .gbra: "gbrap" + deep
    }
  }

  /// The format with FFmpeg's name; nil when it is unknown or not supported.
  package init?(ffmpegName name: String) {
    self.init(ffmpeg: av_get_pix_fmt(name))
  }
}

/// How FFmpeg's formats become frames, made once.
private enum FormatTable {
  struct Known: Sendable {
    var format: PixelFormat
    /// Whether the planes are equal to the planes of the format.
    var isNative: Bool
  }

  static func known(_ format: AVPixelFormat) -> Known? {
    let number = Int(format.rawValue)
    return all.indices.contains(number) ? all[number] : nil
  }

  /// By FFmpeg's number.
  private static let all: [Known?] = {
    var all = (0..<AV_PIX_FMT_NB.rawValue).map { number in
      rearranged(AVPixelFormat(number)).map { Known(format: $0, isNative: false) }
    }
    // One form of decoded colors: a recording's digest has its name.
    for format in PixelFormat.allCases where format != .bgr {
      all[Int(format.ffmpeg.rawValue)] = Known(format: format, isNative: true)
    }
    // The same planes: the range is a property of the frame.
    for (full, format) in [
      (AV_PIX_FMT_YUVJ420P, PixelFormat.i420), (AV_PIX_FMT_YUVJ422P, .i422),
      (AV_PIX_FMT_YUVJ444P, .i444), (AV_PIX_FMT_YUVJ440P, .i440), (AV_PIX_FMT_YUVJ411P, .i411),
    ] {
      all[Int(full.rawValue)] = Known(format: format, isNative: true)
    }
    return all
  }()

  /// The format with the same samples, from FFmpeg's description of the format.
  private static func rearranged(_ format: AVPixelFormat) -> PixelFormat? {
    guard let samples = NativeSamples(format) else { return nil }
    if samples.isPalette { return .rgba }
    let hasAlpha = samples.count == 2 || samples.count == 4
    // Samples below 8 bits are expanded, as in RGB565.
    let bits = max(8, samples.bits)
    guard samples.isRGB || samples.count == 2 else {
      if samples.count == 1 { return PixelFormat(layout: .gray, bits: bits) }
      return yuv(samples, hasAlpha: hasAlpha, bits: bits)
    }
    if bits == 8 { return hasAlpha ? .rgba : .rgb }
    return PixelFormat(layout: hasAlpha ? .gbra : .gbr, bits: bits)
  }

  private static func yuv(
    _ samples: NativeSamples, hasAlpha: Bool, bits: Int
  ) -> PixelFormat? {
    let layout: PixelFormat.Layout? =
      switch (samples.chromaShiftAcross, samples.chromaShiftDown) {
      case (1, 1): hasAlpha ? .i420a : .i420
      case (1, 0): hasAlpha ? .i422a : .i422
      case (0, 0): hasAlpha ? .i444a : .i444
      case (0, 1): hasAlpha ? nil : .i440
      case (2, 0): hasAlpha ? nil : .i411
      case (2, 2): hasAlpha ? nil : .i410
      default: nil
      }
    return layout.flatMap { PixelFormat(layout: $0, bits: bits) }
  }
}

extension AVPixelFormat {
  static func name(_ format: AVPixelFormat) -> String {
    // SAFETY: the library returns a constant string, or nil for an unknown number.
    av_get_pix_fmt_name(format).map { String(cString: $0) } ?? ""
  }

  var isFullRangeByName: Bool {
    switch self {
    case AV_PIX_FMT_YUVJ420P, AV_PIX_FMT_YUVJ422P, AV_PIX_FMT_YUVJ444P, AV_PIX_FMT_YUVJ440P,
      AV_PIX_FMT_YUVJ411P:
      true
    default: false
    }
  }

  var isRGB: Bool { flags & UInt64(AV_PIX_FMT_FLAG_RGB) != 0 }
  var isPalette: Bool { flags & UInt64(AV_PIX_FMT_FLAG_PAL) != 0 }
  var isBayer: Bool { flags & UInt64(AV_PIX_FMT_FLAG_BAYER) != 0 }
  var isFloat: Bool { flags & UInt64(AV_PIX_FMT_FLAG_FLOAT) != 0 }

  /// Bits of the deepest component; 0 when unknown.
  var bitsPerSample: Int {
    // SAFETY: the descriptor is a constant of the library; the components are a tuple of four.
    guard let descriptor = av_pix_fmt_desc_get(self)?.pointee else { return 0 }
    let components = descriptor.comp
    return Int(
      max(components.0.depth, components.1.depth, components.2.depth, components.3.depth))
  }

  var flags: UInt64 { av_pix_fmt_desc_get(self)?.pointee.flags ?? 0 }

  /// The error that rejects this format, with its name.
  func refusal(file: String?) -> MediaError {
    let name = AVPixelFormat.name(self)
    return isFloat
      ? .bitDepth(format: name, bits: bitsPerSample, file: file)
      : .pixelFormat(format: name.isEmpty ? "unknown" : name, file: file)
  }
}

extension ColorRange {
  init?(ffmpeg range: AVColorRange) {
    switch range {
    case AVCOL_RANGE_MPEG: self = .limited
    case AVCOL_RANGE_JPEG: self = .full
    default: return nil
    }
  }

  var ffmpeg: AVColorRange { self == .full ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG }
}

extension ColorMatrix {
  init?(ffmpeg space: AVColorSpace) {
    switch space {
    case AVCOL_SPC_BT709: self = .bt709
    case AVCOL_SPC_BT470BG, AVCOL_SPC_SMPTE170M, AVCOL_SPC_FCC: self = .bt601
    case AVCOL_SPC_BT2020_NCL, AVCOL_SPC_BT2020_CL: self = .bt2020
    case AVCOL_SPC_RGB: self = .identity
    default: return nil
    }
  }

  var ffmpeg: AVColorSpace {
    switch self {
    case .bt601: AVCOL_SPC_SMPTE170M
    case .bt709: AVCOL_SPC_BT709
    case .bt2020: AVCOL_SPC_BT2020_NCL
    case .identity: AVCOL_SPC_UNSPECIFIED
    }
  }
}
