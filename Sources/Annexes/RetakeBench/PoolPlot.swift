import RetakeCore

/// Draws the sizes of adaptive pools over time, above the buffers that a fixed pool of 16 has in
/// use.
package struct PoolPlot: Sendable {
  private static let (width, height, left, top) = (720, 96, 96, 44)
  /// Points of one curve.
  private static let columns = 240
  private static let buffersMax = 16
  private static let colors = ["#0072b2", "#d55e00", "#009e73"]

  private let rows: [PoolFigures]

  package init(_ table: PoolTable) { rows = table.rows }

  package var svg: String {
    // The rows of a load are next to each other: `PoolTable` runs load by load.
    let loads = rows.reduce(into: [String]()) { if $0.last != $1.load { $0.append($1.load) } }
    let full = (Self.width + Self.left + 24, Self.top + loads.count * (Self.height + 28) + 12)
    var text = """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(full.0) \(full.1)" \
      font-family="sans-serif" font-size="12">
      <rect width="\(full.0)" height="\(full.1)" fill="#ffffff"/>

      """
    text += legend
    for (index, load) in loads.enumerated() {
      text += panel(load, y: Self.top + index * (Self.height + 28))
    }
    return text + "</svg>\n"
  }

  /// The pools whose size changes, each with its color.
  private func curves(_ load: String) -> [(name: String, color: String, row: PoolFigures)] {
    let adaptive = rows.filter { $0.load == load && !$0.pool.hasPrefix("fixed") }
    return zip(adaptive, Self.colors).map { ($0.pool, $1, $0) }
  }

  private var legend: String {
    var x = Self.left
    var text =
      "<rect x=\"\(x)\" y=\"14\" width=\"14\" height=\"10\" fill=\"#c8c8c8\"/>"
      + "<text x=\"\(x + 20)\" y=\"24\">in use with fixed 16</text>\n"
    x += 170
    for curve in curves(rows.first?.load ?? "") {
      text +=
        "<rect x=\"\(x)\" y=\"18\" width=\"14\" height=\"3\" fill=\"\(curve.color)\"/>"
        + "<text x=\"\(x + 20)\" y=\"24\">size of \(curve.name)</text>\n"
      x += 150
    }
    return text
  }

  private func panel(_ load: String, y: Int) -> String {
    let bottom = y + Self.height
    let end = rows.filter { $0.load == load }.map(\.nanoseconds).max() ?? 1
    var text =
      "<text x=\"\(Self.left - 8)\" y=\"\(y + 12)\" text-anchor=\"end\">"
      + "\(MarkupText.escaped(load))</text>\n"
    for mark in [0, 4, 8, 12, 16] {
      let level = bottom - mark * Self.height / Self.buffersMax
      text +=
        "<path d=\"M\(Self.left) \(level)h\(Self.width)\" stroke=\"#e4e4e4\"/>"
        + "<text x=\"\(Self.left + Self.width + 4)\" y=\"\(level + 4)\" font-size=\"9\">\(mark)"
        + "</text>\n"
    }
    if let fixed = rows.first(where: { $0.load == load && $0.pool == "fixed 16" }) {
      let points = levels(fixed, end: end) { $0.inUse }.enumerated().map { column, value in
        "L\(x(column)) \(bottom - value * Self.height / Self.buffersMax)"
      }
      text +=
        "<path d=\"M\(Self.left) \(bottom)\(points.joined())L\(Self.left + Self.width) \(bottom)Z\" "
        + "fill=\"#c8c8c8\"/>\n"
    }
    // Each curve is a pixel higher than the curve before, so that pools of equal size stay visible.
    for (index, curve) in curves(load).enumerated() {
      text +=
        "<path d=\"\(steps(curve.row, end: end, bottom: bottom - index))\" fill=\"none\" "
        + "stroke=\"\(curve.color)\" stroke-width=\"2\"/>\n"
    }
    return text
  }

  private func x(_ column: Int) -> Int { Self.left + column * Self.width / Self.columns }

  private func steps(_ row: PoolFigures, end: Int64, bottom: Int) -> String {
    var text = ""
    for (column, value) in levels(row, end: end, { $0.size }).enumerated() {
      let y = bottom - value * Self.height / Self.buffersMax
      text += text.isEmpty ? "M\(x(column)) \(y)" : "V\(y)"
      text += "H\(x(column + 1))"
    }
    return text
  }

  /// The highest value in the time span of each column.
  private func levels(
    _ row: PoolFigures, end: Int64, _ value: (PoolMeter.Sample) -> Int
  ) -> [Int] {
    var levels = Array(repeating: 0, count: Self.columns)
    for (index, sample) in row.samples.enumerated() {
      let until = index + 1 < row.samples.count ? row.samples[index + 1].time : end
      let first = Int(sample.time * Int64(Self.columns) / end)
      // The instant of the next sample belongs to the next sample, so this sample ends a nanosecond
      // before.
      let last = Int(max(sample.time, until - 1) * Int64(Self.columns) / end)
      for column in first...min(last, Self.columns - 1) {
        levels[column] = max(levels[column], value(sample))
      }
    }
    return levels
  }
}
