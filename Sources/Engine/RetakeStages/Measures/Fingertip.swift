package import RetakeBuffers
package import RetakeCore
package import RetakeGraph

/// The part of the frame that is measured.
package struct FingertipOptions: StageOptions, Hashable {
  @OptionValue(
    "part of the width and of the height that is measured, around the middle, in percent; {range}",
    in: 1...100)
  package var percent = 50

  package init() {}

  package init(percent: Int) { self.percent = percent }
}

/// The mean red, green and blue of the middle of a frame, 0 to 255: the raw signal of a pulse
/// measurement with a fingertip on the lens.
///
/// Luma and chroma are summed exactly and converted to colors once per frame with a fixed integer
/// matrix. Means are not clipped, so a mean may be slightly outside 0 to 255. To measure another
/// region, use `crop` first and 100 percent.
package struct Fingertip: PureStage {
  package static let kind = "fingertip"
  package static let summary = "measures mean red, green and blue in the middle of each frame"

  package let options: FingertipOptions

  /// - Throws: `OptionError` unless the percentage is 1 to 100.
  package init(options: FingertipOptions) throws {
    try options.checkRanges()
    self.options = options
  }

  package func process(_ frame: Frame, _ context: StageContext) -> Scalars {
    let means = frame.colorMeans(percent: options.percent)
    return Scalars([
      .init("red", means.red), .init("green", means.green), .init("blue", means.blue),
    ])
  }
}

/// Mean levels of the three colors.
package struct ColorMeans: Hashable {
  package var red: Double
  package var green: Double
  package var blue: Double
}

/// Exact sums of the three components over one region.
private struct ComponentSums {
  var lumaCount: Int
  var luma: Int
  var chromaCount: Int
  var blueDifference: Int
  var redDifference: Int
}

extension Frame {
  /// Of the middle, with a percentage of the width and of the height.
  package func colorMeans(percent: Int) -> ColorMeans {
    colorMeans(
      columns: Self.middle(of: width, percent: percent),
      rows: Self.middle(of: height, percent: percent))
  }

  /// Of a rectangle inside the frame that is not empty and begins at even samples.
  package func colorMeans(columns: Range<Int>, rows: Range<Int>) -> ColorMeans {
    let count = columns.count * rows.count
    func mean(first: Int, step: Int) -> Double {
      Double(sampleSum(plane: 0, columns: columns, rows: rows, step: step, first: first))
        / Double(count)
    }
    if let layout = PackedLayout(format) {
      return ColorMeans(
        red: mean(first: layout.red, step: layout.step),
        green: mean(first: layout.green, step: layout.step),
        blue: mean(first: layout.blue, step: layout.step))
    }
    // A gray frame has one component, which counts as all three colors.
    guard format.isYUV else {
      let gray = mean(first: 0, step: 1)
      return ColorMeans(red: gray, green: gray, blue: gray)
    }
    return LumaChroma(matrix: matrix, range: range)
      .means(componentSums(columns: columns, rows: rows))
  }

  /// Starts at an even sample, and has at least one sample.
  private static func middle(of side: Int, percent: Int) -> Range<Int> {
    let length = max(1, side * percent / 100)
    // Even, so that the first chroma sample covers pixels of the region only.
    let start = (side - length) / 2 / 2 * 2
    return start..<start + length
  }

  private func componentSums(columns: Range<Int>, rows: Range<Int>) -> ComponentSums {
    let across = format == .i444 ? columns : Self.halved(columns)
    let down = format == .i420 || format == .nv12 ? Self.halved(rows) : rows
    func chroma(_ index: Int) -> Int {
      format == .nv12
        ? sampleSum(plane: 1, columns: across, rows: down, step: 2, first: index)
        : sampleSum(plane: 1 + index, columns: across, rows: down)
    }
    return ComponentSums(
      lumaCount: columns.count * rows.count,
      luma: sampleSum(plane: 0, columns: columns, rows: rows),
      chromaCount: across.count * down.count, blueDifference: chroma(0), redDifference: chroma(1))
  }

  private static func halved(_ range: Range<Int>) -> Range<Int> {
    // Rounded up like the chroma planes of odd sizes.
    range.lowerBound / 2..<(range.upperBound + 1) / 2
  }
}

extension LumaChroma {
  fileprivate func means(_ sums: ComponentSums) -> ColorMeans {
    // A product of sum, count and coefficient exceeds 64 bits for large frames.
    let (n, m) = (Int128(sums.lumaCount), Int128(sums.chromaCount))
    let luma = Int128(luma) * (Int128(sums.luma) - Int128(black) * n) * m
    let blue = (Int128(sums.blueDifference) - 128 * m) * n
    let red = (Int128(sums.redDifference) - 128 * m) * n
    // All before this is exact. One division is the same on every machine (IEEE 754).
    let divisor = Double(65_536 * n * m)
    func mean(_ value: Int128) -> Double { Double(value) / divisor }
    return ColorMeans(
      red: mean(luma + Int128(redFromV) * red),
      green: mean(luma - Int128(greenFromU) * blue - Int128(greenFromV) * red),
      blue: mean(luma + Int128(blueFromU) * blue))
  }
}
