import RetakeBuffers

/// Scales a part of a frame and hands out the new rows as red, green and blue.
///
/// Bilinear scaling returns the same bits as OpenCV's `resize` with `INTER_LINEAR` on 8-bit pixels
/// in RGB, in its order: the colors are converted first, then rows are scaled without rounding,
/// then columns with the roundings of `VResizeLinear` (modules/imgproc/src/resize.cpp). All
/// arithmetic is on integers, so the bits are the same on every machine.
struct FrameResampler {
  // SAFETY: each buffer of `Scratch` has as many elements as the loops that use it; indices of
  // samples come from `AxisSamples`, which keeps them inside of the source rectangle.

  private let frame: Frame
  private let source: PixelRectangle
  private let columns: AxisSamples
  private let rows: AxisSamples
  private let wantsGray: Bool

  init(_ frame: Frame, _ geometry: ImageGeometry, _ interpolation: Interpolation, wantsGray: Bool) {
    self.frame = frame
    self.wantsGray = wantsGray
    source = geometry.source
    columns = AxisSamples(
      from: source.width, to: geometry.placed.width, interpolation: interpolation,
      keepsEdgeWeights: false)
    rows = AxisSamples(
      from: source.height, to: geometry.placed.height, interpolation: interpolation,
      keepsEdgeWeights: true)
  }

  /// Calls `body` with each new row, top down. The bytes are valid during the call.
  func forEachRow(_ body: (_ row: Int, _ colors: ColorBytes) -> Void) {
    var reader = ColorRows(
      frame, columns: source.x..<source.x + source.width, wantsGray: wantsGray)
    var scratch = Scratch(source: source.width, scaled: columns.pairs.count)
    for (index, pair) in rows.pairs.enumerated() {
      load(pair, &scratch, &reader)
      scratch.blend(pair)
      body(index, scratch.output)
    }
  }

  /// Scales the two source rows of a new one, unless the new row before used them, too.
  private func load(_ pair: AxisSamples.Pair, _ scratch: inout Scratch, _ reader: inout ColorRows) {
    if scratch.upperRow != pair.a, scratch.lowerRow == pair.a { scratch.swap() }
    if scratch.upperRow != pair.a {
      reader.read(source.y + Int(pair.a), into: scratch.pixels)
      scratch.scaleIntoUpper(columns, row: pair.a)
    }
    guard pair.weightB != 0, scratch.lowerRow != pair.b else { return }
    reader.read(source.y + Int(pair.b), into: scratch.pixels)
    scratch.scaleIntoLower(columns, row: pair.b)
  }
}

/// Three rows of bytes, one for each color.
struct ColorBytes {
  let red: UnsafeMutablePointer<UInt8>
  let green: UnsafeMutablePointer<UInt8>
  let blue: UnsafeMutablePointer<UInt8>
}

/// Buffers of the rows between a frame and its scaled form.
private struct Scratch: ~Copyable {
  /// A scaled row: the three colors one after the other, in units of 1/128.
  private typealias Scaled = UnsafeMutablePointer<Int16>

  /// How many samples are blended at a time.
  private static let block = 64
  private let count: Int
  private let bytes: UnsafeMutablePointer<UInt8>
  private let halves: UnsafeMutablePointer<UInt32>
  /// A row of the source.
  let pixels: PackedPixels
  private let factors: UnsafeMutablePointer<Int16>
  private var upper: Scaled
  private var lower: Scaled
  private(set) var upperRow: Int32 = -1
  private(set) var lowerRow: Int32 = -1

  init(source: Int, scaled: Int) {
    count = scaled
    bytes = .allocate(capacity: 3 * scaled)
    // Eight bytes a pixel, read as such.
    halves = UnsafeMutableRawPointer.allocate(byteCount: 8 * source, alignment: 8)
      .bindMemory(to: UInt32.self, capacity: 2 * source)
    pixels = PackedPixels(halves)
    factors = .allocate(capacity: 2 * Self.block)
    factors.initialize(repeating: 0, count: 2 * Self.block)
    upper = .allocate(capacity: 3 * scaled)
    lower = .allocate(capacity: 3 * scaled)
    // A row with the weight 0 is read, too.
    lower.initialize(repeating: 0, count: 3 * scaled)
  }

  deinit {
    bytes.deallocate()
    halves.deallocate()
    factors.deallocate()
    upper.deallocate()
    lower.deallocate()
  }

  /// A row of the result.
  var output: ColorBytes {
    ColorBytes(red: bytes, green: bytes + count, blue: bytes + 2 * count)
  }

  mutating func swap() {
    (upper, lower) = (lower, upper)
    (upperRow, lowerRow) = (lowerRow, upperRow)
  }

  mutating func scaleIntoUpper(_ columns: AxisSamples, row: Int32) {
    scale(columns, into: upper)
    upperRow = row
  }

  mutating func scaleIntoLower(_ columns: AxisSamples, row: Int32) {
    scale(columns, into: lower)
    lowerRow = row
  }

  private func scale(_ columns: AxisSamples, into target: Scaled) {
    let lane = PackedPixels.lane
    let (red, green, blue) = (target, target + count, target + 2 * count)
    columns.pairs.withUnsafeBufferPointer { pairs in
      for x in 0..<count {
        let pair = pairs[x]
        // All three colors at once: a sum of products of one lane does not reach the next.
        let sum =
          pixels.pixel(pair.a) &* UInt64(truncatingIfNeeded: pair.weightA)
          &+ pixels.pixel(pair.b) &* UInt64(truncatingIfNeeded: pair.weightB)
        // OpenCV drops the lowest four bits before it scales columns; the result is at most 32,640.
        red[x] = Int16(truncatingIfNeeded: (sum >> 4) & 0x7FFF)
        green[x] = Int16(truncatingIfNeeded: (sum >> (lane + 4)) & 0x7FFF)
        blue[x] = Int16(truncatingIfNeeded: sum >> (2 * lane + 4))
      }
    }
  }

  /// Blends the two scaled rows into the result.
  func blend(_ pair: AxisSamples.Pair) {
    let target = output.red
    // The compiler knows that factors in memory have 16 bits. For a constant it forgets that, and
    // emits 32-bit products, which are three times slower.
    factors.update(repeating: Int16(truncatingIfNeeded: pair.weightA), count: Self.block)
    let others = factors + Self.block
    others.update(repeating: Int16(truncatingIfNeeded: pair.weightB), count: Self.block)
    for start in stride(from: 0, to: 3 * count, by: Self.block) {
      let (first, second, result) = (upper + start, lower + start, target + start)
      for x in 0..<min(Self.block, 3 * count - start) {
        // OpenCV rounds each product down to 1/4 of a level, and then their sum to the nearest.
        let a = Int16(truncatingIfNeeded: (Int32(first[x]) &* Int32(factors[x])) >> 16)
        let b = Int16(truncatingIfNeeded: (Int32(second[x]) &* Int32(others[x])) >> 16)
        result[x] = UInt8(truncatingIfNeeded: (a &+ b &+ 2) >> 2)
      }
    }
  }
}
