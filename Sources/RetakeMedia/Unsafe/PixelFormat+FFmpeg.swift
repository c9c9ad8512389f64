import CFFmpeg
import RetakeBuffers

extension PixelFormat {
  /// The supported format for FFmpeg's number; nil for all others.
  init?(ffmpeg format: AVPixelFormat) {
    switch format {
    case AV_PIX_FMT_YUV420P, AV_PIX_FMT_YUVJ420P: self = .i420
    case AV_PIX_FMT_YUV422P, AV_PIX_FMT_YUVJ422P: self = .i422
    case AV_PIX_FMT_YUV444P, AV_PIX_FMT_YUVJ444P: self = .i444
    case AV_PIX_FMT_NV12: self = .nv12
    case AV_PIX_FMT_GRAY8: self = .grey
    case AV_PIX_FMT_RGB24: self = .rgb
    case AV_PIX_FMT_BGRA: self = .bgra
    case AV_PIX_FMT_RGBA: self = .rgba
    default: return nil
    }
  }

  var ffmpeg: AVPixelFormat {
    switch self {
    case .i420: AV_PIX_FMT_YUV420P
    case .i422: AV_PIX_FMT_YUV422P
    case .i444: AV_PIX_FMT_YUV444P
    case .nv12: AV_PIX_FMT_NV12
    case .grey: AV_PIX_FMT_GRAY8
    case .rgb: AV_PIX_FMT_RGB24
    case .bgra: AV_PIX_FMT_BGRA
    case .rgba: AV_PIX_FMT_RGBA
    }
  }

  /// FFmpeg's name, such as `yuv420p`.
  package var ffmpegName: String { AVPixelFormat.name(ffmpeg) }

  /// The format with FFmpeg's name; nil when it is unknown or not supported.
  package init?(ffmpegName name: String) {
    self.init(ffmpeg: av_get_pix_fmt(name))
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

  /// Bits of the deepest component; 0 when unknown.
  var bitsPerSample: Int {
    // SAFETY: the descriptor is a constant of the library; the components are a tuple of four.
    guard let descriptor = av_pix_fmt_desc_get(self)?.pointee else { return 0 }
    let components = descriptor.comp
    return Int(
      max(components.0.depth, components.1.depth, components.2.depth, components.3.depth))
  }

  private var flags: UInt64 { av_pix_fmt_desc_get(self)?.pointee.flags ?? 0 }

  /// The error that rejects this format, with its name.
  func refusal(file: String?) -> MediaError {
    let name = AVPixelFormat.name(self)
    let bits = bitsPerSample
    return bits > 8
      ? .bitDepth(format: name, bits: bits, file: file)
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
