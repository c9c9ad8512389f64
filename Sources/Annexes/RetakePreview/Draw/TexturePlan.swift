import RetakeBuffers

/// How a frame's pixels become a texture with the right colors.
///
/// SDL converts limited BT.601, limited BT.709 and full BT.601 (JPEG's). It supports neither full
/// BT.709 nor BT.2020, so FFmpeg's scaler converts frames with these colors.
struct TexturePlan: Hashable, Sendable {
  /// The layout of the data for the renderer.
  enum Layout: Hashable, Sendable {
    /// Three planes; for gray, the chroma planes are neutral.
    case planar
    case semiPlanar
    case rgb, bgra, rgba
  }

  /// The conversion that SDL uses.
  enum Conversion: Hashable, Sendable {
    case none, full601, limited601, limited709
  }

  var layout: Layout
  var conversion = Conversion.none
  /// The format that the frame is first converted to; `nil` if the renderer reads its planes
  /// unchanged.
  var converted: PixelFormat?
  var isGray = false

  init(format: PixelFormat, range: ColorRange, matrix: ColorMatrix) {
    let conversion = Self.conversion(range: range, matrix: matrix)
    switch format {
    case .rgb: self.init(.rgb)
    case .bgra: self.init(.bgra)
    case .rgba: self.init(.rgba)
    case .gray:
      // Without chroma, the matrix makes no difference.
      self.init(.planar, range == .full ? .full601 : .limited601)
      isGray = true
    case .i420 where conversion != nil: self.init(.planar, conversion ?? .none)
    case .nv12 where conversion != nil: self.init(.semiPlanar, conversion ?? .none)
    // SDL has no planar format with more chroma than 4:2:0.
    case .i422 where conversion != nil, .i444 where conversion != nil:
      self.init(.planar, conversion ?? .none, converted: .i420)
    // Among them the deep formats: a screen has 8 bits.
    default: self.init(.bgra, converted: .bgra)
    }
  }

  private init(_ layout: Layout, _ conversion: Conversion = .none, converted: PixelFormat? = nil) {
    (self.layout, self.conversion, self.converted) = (layout, conversion, converted)
  }

  private static func conversion(range: ColorRange, matrix: ColorMatrix) -> Conversion? {
    switch (range, matrix) {
    case (.limited, .bt601), (.limited, .identity): .limited601
    case (.limited, .bt709): .limited709
    case (.full, .bt601), (.full, .identity): .full601
    case (.full, .bt709), (_, .bt2020): nil
    }
  }
}
