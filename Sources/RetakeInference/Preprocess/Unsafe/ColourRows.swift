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
  /// What chroma adds to each colour, for one row of chroma samples.
  private let terms: UnsafeMutablePointer<Int32>
  /// How many terms of one colour there are.
  private let termCount: Int
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
    termCount = columns.count + 1
    terms = .allocate(capacity: 3 * termCount)
  }

  deinit { terms.deallocate() }

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
    let source = frame.storage.planes[0]
    let samples = source.base + row * source.stride + first
    let (gain, offset) = (factors.luma, LumaChroma.half &- factors.luma &* factors.black)
    for x in 0..<count {
      output.red[x] = Self.clipped((Int32(samples[x]) &* gain &+ offset) >> 16)
    }
    copyRed(to: output)
  }

  private func copyRed(to output: Row) {
    output.green.update(from: output.red, count: count)
    output.blue.update(from: output.red, count: count)
  }

  private mutating func readColours(_ row: Int, into output: Row) {
    let isWide = frame.format == .i444
    let chromaRow = frame.format == .i420 || frame.format == .nv12 ? row / 2 : row
    // In pixels if each has its chroma, otherwise in pairs of pixels.
    let firstTerm = isWide ? first : first / 2
    if chromaRow != termRow {
      let last = isWide ? first + count - 1 : (first + count - 1) / 2
      fillTerms(row: chromaRow, from: firstTerm, count: last - firstTerm + 1)
      termRow = chromaRow
    }
    let source = frame.storage.planes[0]
    let luma = source.base + row * source.stride + first
    convert(luma, terms, isWide, into: output.red)
    convert(luma, terms + termCount, isWide, into: output.green)
    convert(luma, terms + 2 * termCount, isWide, into: output.blue)
  }

  private func fillTerms(row: Int, from start: Int, count: Int) {
    let planes = frame.storage.planes
    let isInterleaved = frame.format == .nv12
    let step = isInterleaved ? 2 : 1
    let u = planes[1].base + row * planes[1].stride + start * step
    let v = isInterleaved ? u + 1 : planes[2].base + row * planes[2].stride + start
    // The luma's offset and the half for rounding are added here, once for several pixels.
    let offset = LumaChroma.half &- factors.luma &* factors.black
    let (red, green, blue) = (terms, terms + termCount, terms + 2 * termCount)
    for x in 0..<count {
      let (du, dv) = (Int32(u[x &* step]) &- 128, Int32(v[x &* step]) &- 128)
      red[x] = offset &+ factors.redFromV &* dv
      green[x] = offset &- factors.greenFromU &* du &- factors.greenFromV &* dv
      blue[x] = offset &+ factors.blueFromU &* du
    }
  }

  @inline(__always)
  private func convert(
    _ luma: UnsafePointer<UInt8>, _ terms: UnsafePointer<Int32>, _ isWide: Bool,
    into colour: UnsafeMutablePointer<UInt8>
  ) {
    let gain = factors.luma
    if isWide {
      for x in 0..<count {
        colour[x] = Self.clipped((Int32(luma[x]) &* gain &+ terms[x]) >> 16)
      }
      return
    }
    // An odd first column is the second pixel of its pair.
    let lead = first & 1
    if lead == 1 { colour[0] = Self.clipped((Int32(luma[0]) &* gain &+ terms[0]) >> 16) }
    let (samples, target, shared) = (luma + lead, colour + lead, terms + lead)
    let pairs = (count - lead) / 2
    for pair in 0..<pairs {
      let term = shared[pair]
      target[2 &* pair] = Self.clipped((Int32(samples[2 &* pair]) &* gain &+ term) >> 16)
      target[2 &* pair &+ 1] = Self.clipped((Int32(samples[2 &* pair &+ 1]) &* gain &+ term) >> 16)
    }
    let done = lead + 2 * pairs
    if done < count {
      colour[done] = Self.clipped((Int32(luma[done]) &* gain &+ shared[pairs]) >> 16)
    }
  }

  @inline(__always)
  private static func clipped(_ level: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: min(255, max(0, level)))
  }
}
