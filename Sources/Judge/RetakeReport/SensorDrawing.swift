import RetakeCore

/// A sensor's curves around a frame as SVG: the same bytes for the same samples.
enum SensorDrawing {
  private static let width = 1_000
  private static let height = 100
  /// A report that was altered may have more than a page should draw.
  private static let curvesMax = 8
  private static let pointsMax = 2_000

  static func svg(_ strip: ReportSensorStrip) -> String {
    var text =
      "<svg class=\"curves\" role=\"img\" viewBox=\"0 0 \(width) \(height)\" "
      + "preserveAspectRatio=\"none\"><title>\(escaped(title(strip)))</title>"
    let middle = width / 2
    let reach = max(1, strip.reachNanoseconds)
    let begin = x(max(-reach, min(0, -strip.windowNanoseconds)), reach)
    if begin < middle {
      text +=
        "<rect class=\"band\" x=\"\(begin)\" width=\"\(middle - begin)\" height=\"\(height)\"/>"
    }
    text += "<path class=\"head\" d=\"M\(middle) 0V\(height)\"/>"
    let range = range(strip)
    for (place, curve) in strip.curves.prefix(curvesMax).enumerated() {
      text += "<path class=\"curve-\(place % 3)\" d=\"\(path(curve, strip, range))\"/>"
    }
    return text + "</svg>"
  }

  /// The text that describes the drawing to readers who cannot see it.
  private static func title(_ strip: ReportSensorStrip) -> String {
    let reach = Double(strip.reachNanoseconds) / 1e9
    return "\(strip.sensor), \(Wording.number(reach)) s before and after frame \(strip.frame)"
  }

  /// The smallest and the largest value; `nil` without a number.
  static func range(_ strip: ReportSensorStrip) -> ClosedRange<Double>? {
    let values = strip.curves.prefix(curvesMax).flatMap(\.values).compactMap(\.self)
      .filter(\.isFinite)
    guard let low = values.min(), let high = values.max() else { return nil }
    return low...high
  }

  /// A gap in the numbers is a gap in the curve.
  private static func path(
    _ curve: ReportSensorStrip.Curve, _ strip: ReportSensorStrip, _ range: ClosedRange<Double>?
  ) -> String {
    guard let range else { return "" }
    var (text, isOpen) = ("", false)
    for (time, value) in zip(strip.times, curve.values).prefix(pointsMax) {
      guard let value, value.isFinite else {
        isOpen = false
        continue
      }
      let point = "\(x(time, max(1, strip.reachNanoseconds))) \(y(value, range))"
      // A first point is a dot: a line of no length with round ends.
      text += isOpen ? "L\(point)" : "M\(point)h0"
      isOpen = true
    }
    return text
  }

  private static func x(_ time: Int64, _ reach: Int64) -> Int {
    let inside = Int128(max(-reach, min(reach, time))) + Int128(reach)
    return Int(inside * Int128(width) / (2 * Int128(reach)))
  }

  private static func y(_ value: Double, _ range: ClosedRange<Double>) -> Int {
    let span = range.upperBound - range.lowerBound
    // A constant is a line in the middle; a span that is not finite has no scale.
    let part = span > 0 && span.isFinite ? (value - range.lowerBound) / span : 0.5
    let room = Double(height - 8)
    return height - 4 - Int((part * room).rounded())
  }

  private static func escaped(_ text: String) -> String {
    MarkupText.escaped(text.visible(limit: 200))
  }
}
