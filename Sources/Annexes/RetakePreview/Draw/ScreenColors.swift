/// The colors around an image.
enum ScreenColors {
  static let ground = CanvasColor(24, 24, 27)
  static let bar = CanvasColor(63, 63, 70)
  static let knob = CanvasColor(86, 180, 233)
  static let text = CanvasColor(228, 228, 231)
  static let faint = CanvasColor(161, 161, 170)
  static let now = CanvasColor(255, 255, 255, 200)
  static let shade = CanvasColor(0, 0, 0, 190)
  static let warning = CanvasColor(240, 228, 66)

  /// The curve of a sensor's channel, from the same palette as the marks.
  static func curve(_ channel: Int) -> CanvasColor {
    [CanvasColor(86, 180, 233), CanvasColor(230, 159, 0), CanvasColor(0, 158, 115)][channel % 3]
  }

  /// From Okabe and Ito's palette, which most people with a color vision deficiency can
  /// distinguish.
  static func mark(_ kind: DecisionMarks.Kind) -> CanvasColor {
    switch kind {
    case .start: CanvasColor(0, 158, 115)
    case .drop: CanvasColor(213, 94, 0)
    case .thin: CanvasColor(240, 228, 66)
    case .fail: CanvasColor(204, 121, 167)
    }
  }
}
