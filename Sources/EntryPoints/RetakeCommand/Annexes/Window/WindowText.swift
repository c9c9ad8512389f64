#if Window
  import Retake
  import RetakePreview

  /// The statistics of a preview in words.
  enum WindowText {
    static func summary(of figures: WindowFigures) -> PreviewSummary {
      PreviewSummary(text: of(figures), figures: figures)
    }

    static func of(_ figures: WindowFigures, renderer: WindowRenderer? = nil) -> String {
      var lines = [
        "preview  \(figures.shown) of \(counted(figures.offered, "frame")) shown, "
          + "\(figures.dropped) dropped"
          + (figures.alarms > 0 ? " (lasting drops: \(counted(figures.alarms, "time")))" : "")
          + (figures.throttled > 0 ? ", \(figures.throttled) throttled" : "")
          + (figures.waiting > 0 ? ", \(figures.waiting) not shown at the end" : "")
          + (renderer.map { "  (\(text($0)))" } ?? "")
      ]
      let steps = figures.steps
      let spreads = [
        ("delivery jitter", figures.jitter), ("render time", figures.render),
        ("  convert", steps.convert), ("  upload", steps.upload), ("  draw", steps.draw),
        ("  present", steps.present), ("  the device's own time", steps.device),
        ("offer to screen", figures.latency), ("age of results", figures.resultAge),
      ]
      for (name, spread) in spreads {
        guard let spread else { continue }
        lines.append(line(name, spread))
      }
      return lines.joined(separator: "\n")
    }

    /// `opengl, software: llvmpipe (LLVM 15.0.6, 256 bits)`
    private static func text(_ renderer: WindowRenderer) -> String {
      let isPlain = renderer.name == "software" || !renderer.isSoftware
      return renderer.name + (isPlain ? "" : ", software")
        + (renderer.device.map { ": \($0)" } ?? "")
        + (renderer.fallbackCause.map { "; no OpenGL: \($0)" } ?? "")
    }

    /// `  render time  median 0.50, p99 1.20, most 3.00 ms`
    static func line(_ name: String, _ spread: WindowFigures.Spread) -> String {
      "  \(name)  median \(milliseconds(spread.medianNanoseconds)), "
        + "p99 \(milliseconds(spread.p99Nanoseconds)), "
        + "most \(milliseconds(spread.mostNanoseconds)) ms"
    }

    private static func milliseconds(_ nanoseconds: Int64) -> String {
      FixedPoint.milliseconds(nanoseconds, digits: 2)
    }
  }

  extension DropAlarm {
    /// For a session that is played: there is no device, and the results are from a file.
    var playerText: String {
      let span = "\(spanNanoseconds / 1_000_000) ms"
      return !hasEnded
        ? "the window cannot show every frame at this speed: \(dropped) of \(offered) frames were "
          + "skipped in \(span)"
        : "the window keeps up again: \(dropped) of \(offered) frames were skipped in \(span)"
    }
  }
#endif
