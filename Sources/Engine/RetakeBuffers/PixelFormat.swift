import RetakeCore

/// The pixel layout of a frame: how its planes are divided, and the bits of a sample.
///
/// There are few layouts, and each has one form. Samples of 8 bits are bytes. Deeper samples are
/// 16-bit words, little-endian, whose value is 0 to below 2^bits; the other bits are 0. Pixels that
/// a decoder returns in another form, such as packed 4:2:2 or a palette, are rearranged without
/// loss.
///
/// `I420` full range is FFmpeg's yuvj420p: the range is a property of the frame.
///
/// ```swift
/// let format = PixelFormat.i420(bits: 10)
/// print(format.rawValue, format.bitsPerSample, format.planeCount)  // I420P10, 10 and 3
/// ```
public struct PixelFormat: Hashable, Sendable {
  /// How the planes are divided.
  package enum Layout: String, Hashable, Sendable, CaseIterable {
    /// Luma, and two planes of chroma: every second column and row.
    case i420 = "I420"
    /// Every second column.
    case i422 = "I422"
    case i444 = "I444"
    /// Luma, and one plane of chroma pairs.
    case nv12 = "NV12"
    case gray = "GRAY"
    /// One plane of interleaved colors.
    case rgb = "RGB"
    case bgra = "BGRA"
    case rgba = "RGBA"
    case bgr = "BGR"
    /// Every second row.
    case i440 = "I440"
    /// Every fourth column.
    case i411 = "I411"
    /// Every fourth column and row.
    case i410 = "I410"
    /// A fourth plane has the opacity.
    case i420a = "I420A"
    case i422a = "I422A"
    case i444a = "I444A"
    /// Planes of green, blue and red.
    case gbr = "GBR"
    /// A fourth plane has the opacity.
    case gbra = "GBRA"
  }

  package let layout: Layout
  /// 8, or the number of significant bits of each 16-bit word: 9, 10, 12, 14 or 16.
  public let bitsPerSample: Int

  private init(_ layout: Layout, bits: Int = 8) {
    (self.layout, bitsPerSample) = (layout, bits)
  }

  // Written out, because the operators of `RawRepresentable` would make two strings for each
  // comparison.
  /// Whether layout and bits per sample are equal.
  public static func == (left: PixelFormat, right: PixelFormat) -> Bool {
    left.layout == right.layout && left.bitsPerSample == right.bitsPerSample
  }

  /// Hashes layout and bits per sample.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(layout)
    hasher.combine(bitsPerSample)
  }

  /// - Returns: nil unless there is such a format.
  package init?(layout: Layout, bits: Int) {
    guard Self.depths(of: layout).contains(bits) else { return nil }
    self.init(layout, bits: bits)
  }

  /// Planar YUV 4:2:0.
  public static let i420 = PixelFormat(.i420)
  /// Planar YUV 4:2:2.
  public static let i422 = PixelFormat(.i422)
  /// Planar YUV 4:4:4.
  public static let i444 = PixelFormat(.i444)
  /// YUV 4:2:0 with one plane of chroma pairs.
  public static let nv12 = PixelFormat(.nv12)
  /// One plane of luma.
  public static let gray = PixelFormat(.gray)
  /// Interleaved red, green and blue.
  public static let rgb = PixelFormat(.rgb)
  /// Interleaved blue, green, red and opacity.
  public static let bgra = PixelFormat(.bgra)
  /// Interleaved red, green, blue and opacity.
  public static let rgba = PixelFormat(.rgba)
  /// Interleaved blue, green and red, as OpenCV has them. Decoders return `rgb` instead.
  public static let bgr = PixelFormat(.bgr)
  /// Planar YUV 4:4:0: chroma of every second row.
  package static let i440 = PixelFormat(.i440)
  /// Planar YUV 4:1:1: chroma of every fourth column.
  package static let i411 = PixelFormat(.i411)
  /// Planar YUV 4:1:0: chroma of every fourth column and row.
  package static let i410 = PixelFormat(.i410)
  package static let i420a = PixelFormat(.i420a)
  package static let i422a = PixelFormat(.i422a)
  package static let i444a = PixelFormat(.i444a)

  /// The formats that a stage accepts unless it declares others: the formats of cameras with 8
  /// bits.
  public static let basic: [PixelFormat] = [.i420, .i422, .i444, .nv12, .gray, .rgb, .bgra, .rgba]

  /// Planar YUV 4:2:0. The process ends unless bits are 8, 9, 10, 12, 14 or 16.
  public static func i420(bits: Int) -> PixelFormat { checked(.i420, bits) }
  /// Planar YUV 4:2:2. The process ends unless bits are 8, 9, 10, 12, 14 or 16.
  public static func i422(bits: Int) -> PixelFormat { checked(.i422, bits) }
  /// Planar YUV 4:4:4. The process ends unless bits are 8, 9, 10, 12, 14 or 16.
  public static func i444(bits: Int) -> PixelFormat { checked(.i444, bits) }
  /// One plane of luma. The process ends unless bits are 8, 9, 10, 12, 14 or 16.
  public static func gray(bits: Int) -> PixelFormat { checked(.gray, bits) }
  /// Planes of green, blue and red. The process ends unless bits are 9, 10, 12, 14 or 16.
  public static func gbr(bits: Int) -> PixelFormat { checked(.gbr, bits) }

  private static func checked(_ layout: Layout, _ bits: Int) -> PixelFormat {
    guard let format = PixelFormat(layout: layout, bits: bits) else {
      requirementFailure("\(layout.rawValue) has \(depths(of: layout)) bits a sample, not \(bits)")
    }
    return format
  }

  /// The depths that FFmpeg's decoders return for a layout.
  private static func depths(of layout: Layout) -> [Int] {
    switch layout {
    case .i420, .i422, .i444, .gray: [8, 9, 10, 12, 14, 16]
    case .nv12, .rgb, .bgr, .bgra, .rgba, .i411, .i410: [8]
    case .i440: [8, 10, 12]
    case .i420a: [8, 9, 10, 16]
    case .i422a, .i444a: [8, 9, 10, 12, 16]
    // With 8 bits these are RGB24 and RGBA.
    case .gbr: [9, 10, 12, 14, 16]
    case .gbra: [10, 12, 16]
    }
  }

  /// Whether a sample has more than 8 bits, and so is a 16-bit word.
  package var isDeep: Bool { bitsPerSample > 8 }

  /// Whether it is one of `basic`.
  package var isBasic: Bool { bitsPerSample == 8 && Self.basic.contains(self) }

  /// The format with 8 bits that has the same samples, rounded: I420 for I420P10, RGB24 for GBRP12.
  package var eightBits: PixelFormat {
    switch layout {
    case .gbr: .rgb
    case .gbra: .rgba
    default: PixelFormat(layout)
    }
  }

  /// The format of `basic` with the least loss.
  package var nearestBasic: PixelFormat {
    switch layout {
    case .i420, .i420a, .i410: .i420
    case .i422, .i422a: .i422
    case .i444, .i444a, .i440, .i411: .i444
    case .bgr: .rgb
    case .nv12, .gray, .rgb, .bgra, .rgba, .gbr, .gbra: eightBits
    }
  }

  /// 3 for planar YUV, 2 for NV12, 1 for gray and for interleaved RGB; one more for opacity in a
  /// separate plane.
  public var planeCount: Int {
    switch layout {
    case .i420, .i422, .i444, .i440, .i411, .i410, .gbr: 3
    case .i420a, .i422a, .i444a, .gbra: 4
    case .nv12: 2
    case .gray, .rgb, .bgr, .bgra, .rgba: 1
    }
  }

  /// Whether it has luma and chroma; `false` for gray and for RGB.
  public var isYUV: Bool {
    switch layout {
    case .i420, .i422, .i444, .nv12, .i440, .i411, .i410, .i420a, .i422a, .i444a: true
    case .gray, .rgb, .bgr, .bgra, .rgba, .gbr, .gbra: false
    }
  }

  /// Whether it has red, green and blue.
  package var isRGB: Bool { !isYUV && layout != .gray }

  /// Luma samples for each chroma sample, in each direction; 1 without chroma planes.
  package var chromaStep: (across: Int, down: Int) {
    switch layout {
    case .i420, .nv12, .i420a: (2, 2)
    case .i422, .i422a: (2, 1)
    case .i440: (1, 2)
    case .i411: (4, 1)
    case .i410: (4, 4)
    case .i444, .i444a, .gray, .rgb, .bgr, .bgra, .rgba, .gbr, .gbra: (1, 1)
    }
  }

  private func isChroma(_ plane: Int) -> Bool { isYUV && (plane == 1 || plane == 2) }

  /// Visible bytes in one row of a plane, for a frame of `width` pixels.
  public func rowBytes(plane: Int, width: Int) -> Int {
    switch layout {
    case .gray: return isDeep ? 2 * width : width
    case .rgb, .bgr: return 3 * width
    case .bgra, .rgba: return 4 * width
    case .nv12: return plane == 0 ? width : 2 * ((width + 1) / 2)
    default:
      let step = isChroma(plane) ? chromaStep.across : 1
      // The last columns have a chroma sample even if they are fewer than the step.
      let samples = (width + step - 1) / step
      return isDeep ? 2 * samples : samples
    }
  }

  /// Rows in a plane, for a frame of `height` pixels.
  public func rowCount(plane: Int, height: Int) -> Int {
    guard isChroma(plane) else { return height }
    let step = chromaStep.down
    return (height + step - 1) / step
  }

  /// The number of visible bytes of a frame.
  package func visibleBytes(width: Int, height: Int) -> Int {
    (0..<planeCount).reduce(0) {
      $0 + rowBytes(plane: $1, width: width) * rowCount(plane: $1, height: height)
    }
  }
}

extension PixelFormat: CaseIterable {
  /// The formats of `basic`, then the other layouts with 8 bits, then the deep formats.
  public static let allCases: [PixelFormat] = {
    let eight = Layout.allCases.filter { depths(of: $0).contains(8) }.map { PixelFormat($0) }
    let deep = Layout.allCases.flatMap { layout in
      depths(of: layout).filter { $0 > 8 }.map { PixelFormat(layout, bits: $0) }
    }
    return eight + deep
  }()
}

extension PixelFormat: RawRepresentable, Codable, CustomStringConvertible {
  /// The name in files and messages: `I420`, `GRAY8`, `RGB24`; for deep formats `I420P10`,
  /// `GRAY10`.
  public var rawValue: String {
    switch (layout, bitsPerSample) {
    case (.gray, _): "GRAY\(bitsPerSample)"
    case (.rgb, _): "RGB24"
    case (.bgr, _): "BGR24"
    case (.gbr, _): "GBRP\(bitsPerSample)"
    case (.gbra, _): "GBRAP\(bitsPerSample)"
    case (_, 8): layout.rawValue
    default: "\(layout.rawValue)P\(bitsPerSample)"
    }
  }

  private static let byName = Dictionary(
    allCases.map { ($0.rawValue, $0) }, uniquingKeysWith: { first, _ in first })

  /// The format with this name; nil if there is no such format.
  public init?(rawValue: String) {
    guard let format = Self.byName[rawValue] else { return nil }
    self = format
  }

  /// The same as `rawValue`.
  public var description: String { rawValue }
}
