import RetakePreview

/// The statistics of a preview in words.
enum WindowText {
  static func of(_ figures: WindowFigures, renderer: String? = nil) -> String {
    var lines = [
      "preview  \(figures.shown) of \(figures.offered) frames shown, \(figures.dropped) dropped"
        + (figures.thinned > 0 ? ", \(figures.thinned) thinned" : "")
        + (figures.waiting > 0 ? ", \(figures.waiting) not shown at the end" : "")
        + (renderer.map { "  (\($0))" } ?? "")
    ]
    let spreads = [
      ("delivery jitter", figures.jitter), ("render time", figures.render),
      ("offer to screen", figures.latency), ("age of results", figures.resultAge),
    ]
    for (name, spread) in spreads {
      guard let spread else { continue }
      lines.append(line(name, spread))
    }
    return lines.joined(separator: "\n")
  }

  /// `  render time  median 0.50, p99 1.20, most 3.00 ms`
  static func line(_ name: String, _ spread: WindowFigures.Spread) -> String {
    "  \(name)  median \(milliseconds(spread.medianNanoseconds)), "
      + "p99 \(milliseconds(spread.p99Nanoseconds)), "
      + "most \(milliseconds(spread.mostNanoseconds)) ms"
  }

  /// With two decimals.
  private static func milliseconds(_ nanoseconds: Int64) -> String {
    // Times can be negative, and division truncates toward zero, so the half is added away from it.
    let hundredths = (nanoseconds + (nanoseconds < 0 ? -5_000 : 5_000)) / 10_000
    let (whole, rest) = (abs(hundredths) / 100, abs(hundredths) % 100)
    return (hundredths < 0 ? "-" : "") + "\(whole)." + (rest < 10 ? "0" : "") + "\(rest)"
  }
}
