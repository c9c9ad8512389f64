import RetakeBuffers

/// Reads rows of a part of a frame as red, green and blue in full range, all formats alike.
///
/// A chroma sample is used for each pixel that it covers, as FFmpeg's and OpenCV's conversions to
/// RGB do by default. Grey has three equal colours. Packed formats have full range.
struct ColourRows: ~Copyable {
  // SAFETY: the scratch memory is allocated here for `columns` and freed in deinit. Planes are
  // read inside of the rows and columns that the frame declares; the frame keeps them alive, and
  // it lives as long as this value.

  /// Three rows of bytes, one for each colour.
  struct Row {
    let red: UnsafeMutablePointer<UInt8>
    let green: UnsafeMutablePointer<UInt8>
    let blue: UnsafeMutablePointer<UInt8>
  }

  private let frame: Frame
  private let first: Int
  private let count: Int
  private let wantsGrey: Bool
  private let factors: LumaChroma
  /// Half a level, so that shifting rounds to the nearest, less the luma of black.
  private let offset: Int32
  /// What chroma adds to each colour of each pixel, for one row of chroma samples; the three
  /// colours one after the other.
  private let terms: UnsafeMutablePointer<Int32>
  private let luma: UnsafeMutablePointer<Int32>
  private var termRow = -1

  /// - Parameter wantsGrey: All three colours are the luma; of RGB, that of BT.601.
  init(_ frame: Frame, columns: Range<Int>, wantsGrey: Bool) {
    precondition(columns.lowerBound >= 0 && columns.upperBound <= frame.width)
    self.frame = frame
    first = columns.lowerBound
    count = columns.count
    self.wantsGrey = wantsGrey
    factors = LumaChroma(
      matrix: frame.format.isYUV && frame.matrix == .identity
        ? .assumed(height: frame.height) : frame.matrix,
      range: frame.range)
    offset = LumaChroma.half - factors.luma * factors.black
    terms = .allocate(capacity: 3 * columns.count)
    luma = .allocate(capacity: columns.count)
    terms.initialize(repeating: offset, count: 3 * columns.count)
  }

  deinit {
    terms.deallocate()
    luma.deallocate()
  }

  mutating func read(_ row: Int, into output: Row) {
    precondition(row >= 0 && row < frame.height)
    switch frame.format {
    case .rgb: readPacked(row, step: 3, red: 0, blue: 2, into: output)
    case .rgba: readPacked(row, step: 4, red: 0, blue: 2, into: output)
    case .bgra: readPacked(row, step: 4, red: 2, blue: 0, into: output)
    case .grey: readLuma(row, into: output)
    case .i420, .i422, .i444, .nv12:
      if wantsGrey { readLuma(row, into: output) } else { readColours(row, into: output) }
    }
    withExtendedLifetime(frame) {}
  }

  private func readPacked(_ row: Int, step: Int, red: Int, blue: Int, into output: Row) {
    let source = frame.storage.planes[0]
    let pixels = source.base + row * source.stride + first * step
    for x in 0..<count {
      let pixel = pixels + x &* step
      output.red[x] = pixel[red]
      output.green[x] = pixel[1]
      output.blue[x] = pixel[blue]
    }
    guard wantsGrey else { return }
    for x in 0..<count {
      // The weights add up to one, so the range is kept.
      let luma =
        19_595 &* UInt32(output.red[x]) &+ 38_470 &* UInt32(output.green[x])
        &+ 7_471 &* UInt32(output.blue[x]) &+ 32_768
      output.red[x] = UInt8(truncatingIfNeeded: luma >> 16)
    }
    copyRed(to: output)
  }

  private func readLuma(_ row: Int, into output: Row) {
    scaleLuma(row: row)
    // No chroma: the terms are what they were initialised with.
    convert(terms, into: output.red)
    copyRed(to: output)
  }

  private func copyRed(to output: Row) {
    output.green.update(from: output.red, count: count)
    output.blue.update(from: output.red, count: count)
  }

  private mutating func readColours(_ row: Int, into output: Row) {
    let chromaRow = frame.format == .i420 || frame.format == .nv12 ? row / 2 : row
    if chromaRow != termRow {
      fillTerms(row: chromaRow)
      termRow = chromaRow
    }
    scaleLuma(row: row)
    convert(terms, into: output.red)
    convert(terms + count, into: output.green)
    convert(terms + 2 * count, into: output.blue)
  }

  /// Computes what chroma adds at each pixel.
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

  /// Luma in units of 1/65536, which all three colours add their terms to.
  private func scaleLuma(row: Int) {
    let source = frame.storage.planes[0]
    let samples = source.base + row * source.stride + first
    let gain = factors.luma
    for x in 0..<count { luma[x] = Int32(samples[x]) &* gain }
  }

  private func convert(_ terms: UnsafePointer<Int32>, into colour: UnsafeMutablePointer<UInt8>) {
    for x in 0..<count {
      let level = (luma[x] &+ terms[x]) >> 16
      colour[x] = UInt8(truncatingIfNeeded: min(255, max(0, level)))
    }
  }
}
