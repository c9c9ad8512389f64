import RetakeBuffers

/// Reads rows of a part of a frame as red, green and blue in full range, all formats alike.
///
/// A chroma sample is used for each pixel that it covers, as FFmpeg's and OpenCV's conversions to
/// RGB do by default. Gray has three equal colors. Packed formats have full range.
///
/// A pixel has 64 bits, with its three colors in lanes of 21 bits: see `FrameResampler`.
struct ColorRows: ~Copyable {
  // SAFETY: the scratch memory is allocated here for `columns` and freed in deinit. Planes are
  // read inside of the rows and columns that the frame declares; the frame keeps them alive, and
  // it lives as long as this value.

  private let frame: Frame
  private let first: Int
  private let count: Int
  private let wantsGray: Bool
  private let factors: LumaChroma
  /// Half a level, so that shifting rounds to the nearest, less the luma of black.
  private let offset: Int32
  /// The summand of chroma for each color of each pixel, for one row of chroma samples; the three
  /// colors one after the other.
  private let terms: UnsafeMutablePointer<Int32>
  private var termRow = -1

  /// - Parameter wantsGray: All three colors are the luma; of packed RGB formats, the luma of
  ///   BT.601.
  init(_ frame: Frame, columns: Range<Int>, wantsGray: Bool) {
    precondition(columns.lowerBound >= 0 && columns.upperBound <= frame.width)
    self.frame = frame
    first = columns.lowerBound
    count = columns.count
    self.wantsGray = wantsGray
    factors = LumaChroma(
      matrix: frame.format.isYUV && frame.matrix == .identity
        ? .assumed(height: frame.height) : frame.matrix,
      range: frame.range)
    // Half a unit, so that shifting rounds to the nearest.
    offset = 32_768 - factors.luma * factors.black
    terms = .allocate(capacity: 3 * columns.count)
    terms.initialize(repeating: offset, count: 3 * columns.count)
  }

  deinit { terms.deallocate() }

  mutating func read(_ row: Int, into pixels: PackedPixels) {
    precondition(row >= 0 && row < frame.height)
    switch frame.format {
    case .rgb: readPacked(row, step: 3, red: 0, blue: 2, into: pixels)
    case .rgba: readPacked(row, step: 4, red: 0, blue: 2, into: pixels)
    case .bgra: readPacked(row, step: 4, red: 2, blue: 0, into: pixels)
    case .gray: readLuma(row, into: pixels)
    case .i420, .i422, .i444, .nv12:
      if wantsGray { readLuma(row, into: pixels) } else { readColors(row, into: pixels) }
    default: preconditionFailure("other formats are converted before a model")
    }
    withExtendedLifetime(frame) {}
  }

  @inline(__always)
  private func readPacked(
    _ row: Int, step: Int, red: Int, blue: Int, into pixels: PackedPixels
  ) {
    let source = frame.storage.planes[0]
    let samples = source.base + row * source.stride + first * step
    for x in 0..<count {
      let sample = samples + x &* step
      let (r, g, b) = (UInt32(sample[red]), UInt32(sample[1]), UInt32(sample[blue]))
      guard wantsGray else {
        pixels.set(x, r, g, b)
        continue
      }
      // The weights add up to one, so the range is kept.
      let luma = (19_595 &* r &+ 38_470 &* g &+ 7_471 &* b &+ 32_768) >> 16
      pixels.set(x, luma, luma, luma)
    }
  }

  private func readLuma(_ row: Int, into pixels: PackedPixels) {
    let source = frame.storage.planes[0]
    let samples = source.base + row * source.stride + first
    for x in 0..<count {
      let level = Self.clipped((Int32(samples[x]) &* factors.luma &+ offset) >> 16)
      pixels.set(x, level, level, level)
    }
  }

  private mutating func readColors(_ row: Int, into pixels: PackedPixels) {
    let chromaRow = frame.format == .i420 || frame.format == .nv12 ? row / 2 : row
    if chromaRow != termRow {
      fillTerms(row: chromaRow)
      termRow = chromaRow
    }
    let source = frame.storage.planes[0]
    let samples = source.base + row * source.stride + first
    let gain = factors.luma
    let (reds, greens, blues) = (terms, terms + count, terms + 2 * count)
    for x in 0..<count {
      let luma = Int32(samples[x]) &* gain
      pixels.set(
        x, Self.clipped((luma &+ reds[x]) >> 16), Self.clipped((luma &+ greens[x]) >> 16),
        Self.clipped((luma &+ blues[x]) >> 16))
    }
  }

  /// Computes the summands of chroma at each pixel.
  private func fillTerms(row: Int) {
    let planes = frame.storage.planes
    let u = planes[1].base + row * planes[1].stride
    switch frame.format {
    case .nv12: fillPairs(u, u + 1, step: 2)
    case .i420, .i422: fillPairs(u, planes[2].base + row * planes[2].stride, step: 1)
    default:
      let v = planes[2].base + row * planes[2].stride
      for x in 0..<count { setTerm(x, u[first &+ x], v[first &+ x]) }
    }
  }

  /// Each chroma sample is for two pixels, of which the first has an even column.
  @inline(__always)
  private func fillPairs(_ u: UnsafePointer<UInt8>, _ v: UnsafePointer<UInt8>, step: Int) {
    let lead = first & 1
    if lead == 1 { setTerm(0, u[first / 2 * step], v[first / 2 * step]) }
    let start = (first + lead) / 2
    let pairs = (count - lead) / 2
    for pair in 0..<pairs {
      let index = (start &+ pair) &* step
      setTerm(lead &+ 2 &* pair, u[index], v[index])
      setTerm(lead &+ 2 &* pair &+ 1, u[index], v[index])
    }
    let index = (start + pairs) * step
    if lead + 2 * pairs < count { setTerm(count - 1, u[index], v[index]) }
  }

  @inline(__always)
  private func setTerm(_ x: Int, _ u: UInt8, _ v: UInt8) {
    let (du, dv) = (Int32(u) &- 128, Int32(v) &- 128)
    // The luma's offset and the half for rounding are added here, once for several rows.
    terms[x] = offset &+ factors.redFromV &* dv
    terms[count &+ x] = offset &- factors.greenFromU &* du &- factors.greenFromV &* dv
    terms[2 &* count &+ x] = offset &+ factors.blueFromU &* du
  }

  @inline(__always)
  private static func clipped(_ level: Int32) -> UInt32 {
    UInt32(truncatingIfNeeded: min(255, max(0, level)))
  }
}

/// A row of pixels of 64 bits.
struct PackedPixels {
  /// Bits of a color's lane. A color times 2048 has 19.
  static let lane: UInt64 = 21

  private let halves: UnsafeMutablePointer<UInt32>

  /// - Parameter halves: Two for each pixel, aligned to eight bytes.
  init(_ halves: UnsafeMutablePointer<UInt32>) { self.halves = halves }

  /// Written as two halves of 32 bits, which the compiler writes several at a time.
  @inline(__always)
  func set(_ x: Int, _ red: UInt32, _ green: UInt32, _ blue: UInt32) {
    halves[2 &* x] = (red | green << 21).littleEndian
    halves[2 &* x &+ 1] = (blue << 10).littleEndian
  }

  @inline(__always)
  func pixel(_ x: Int32) -> UInt64 {
    // SAFETY: the memory has eight bytes a pixel and is aligned to them.
    UInt64(
      littleEndian: UnsafeRawPointer(halves).load(fromByteOffset: 8 &* Int(x), as: UInt64.self))
  }
}
