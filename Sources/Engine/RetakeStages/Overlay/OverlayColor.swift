/// A color of an overlay, with its opacity.
package struct OverlayColor: Hashable, Sendable {
  package var red: UInt8
  package var green: UInt8
  package var blue: UInt8
  /// 0 is transparent, 255 is opaque.
  package var alpha: UInt8

  package init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
    (self.red, self.green, self.blue, self.alpha) = (red, green, blue, alpha)
  }

  static let white = OverlayColor(red: 255, green: 255, blue: 255)
  /// The background of text.
  static let shade = OverlayColor(red: 0, green: 0, blue: 0, alpha: 160)

  /// Distinguishes classes, also for most people with color blindness: the palette of Okabe and
  /// Ito.
  static func ofClass(_ index: Int) -> OverlayColor {
    // An identity may be negative, and so is then its remainder in Swift.
    let count = palette.count
    return palette[((index % count) + count) % count]
  }

  private static let palette = [
    OverlayColor(red: 230, green: 159, blue: 0), OverlayColor(red: 86, green: 180, blue: 233),
    OverlayColor(red: 0, green: 158, blue: 115), OverlayColor(red: 240, green: 228, blue: 66),
    OverlayColor(red: 0, green: 114, blue: 178), OverlayColor(red: 213, green: 94, blue: 0),
    OverlayColor(red: 204, green: 121, blue: 167),
  ]
}
