/// The pixel layouts in a pipeline, with 8 bits per sample.
///
/// `I420` full range is what FFmpeg calls yuvj420p: the range is a property of the frame.
public enum PixelFormat: String, Hashable, Sendable, Codable, CaseIterable {
  case i420 = "I420"
  case i422 = "I422"
  case i444 = "I444"
  case nv12 = "NV12"
  case grey = "GRAY8"
  case rgb = "RGB24"
  case bgra = "BGRA"
  case rgba = "RGBA"

  /// 3 for planar YUV, 2 for NV12, 1 for grey and for interleaved RGB.
  public var planeCount: Int {
    switch self {
    case .i420, .i422, .i444: 3
    case .nv12: 2
    case .grey, .rgb, .bgra, .rgba: 1
    }
  }

  /// Whether it has luma and chroma; `false` for grey and for RGB.
  public var isYUV: Bool {
    switch self {
    case .i420, .i422, .i444, .nv12: true
    case .grey, .rgb, .bgra, .rgba: false
    }
  }

  /// Visible bytes in one row of a plane, for a frame of `width` pixels.
  public func rowBytes(plane: Int, width: Int) -> Int {
    switch self {
    case .grey: width
    case .rgb: 3 * width
    case .bgra, .rgba: 4 * width
    // An odd width has a chroma sample for its last column, too.
    case .i420, .i422: plane == 0 ? width : (width + 1) / 2
    case .i444: width
    case .nv12: plane == 0 ? width : 2 * ((width + 1) / 2)
    }
  }

  /// Rows in a plane, for a frame of `height` pixels.
  public func rowCount(plane: Int, height: Int) -> Int {
    switch self {
    case .i420, .nv12: plane == 0 ? height : (height + 1) / 2
    case .grey, .rgb, .bgra, .rgba, .i422, .i444: height
    }
  }

  /// The number of visible bytes of a whole frame.
  package func visibleBytes(width: Int, height: Int) -> Int {
    (0..<planeCount).reduce(0) {
      $0 + rowBytes(plane: $1, width: width) * rowCount(plane: $1, height: height)
    }
  }
}

/// The sample values of black and white.
public enum ColorRange: String, Hashable, Sendable, Codable {
  /// 16-235 (luma) and 16-240 (chroma).
  case limited
  /// 0-255.
  case full
}

/// How luma and chroma are computed from red, green and blue.
public enum ColorMatrix: String, Hashable, Sendable, Codable {
  case bt601
  case bt709
  case bt2020
  /// Not a luma-chroma format, or grey.
  case identity

  /// The matrix that is assumed for an unlabelled image: BT.601 below 720 lines, otherwise BT.709.
  package static func assumed(height: Int) -> ColorMatrix { height < 720 ? .bt601 : .bt709 }
}
