/// The glyphs of overlays: Latin-1 of DejaVu Sans Mono, all of the same width.
package enum GlyphAtlas {
  /// In pixels.
  package static let width = 8
  /// In pixels.
  package static let height = 16
  /// The level of a fully covered pixel; 0 means not covered.
  package static let levelMax: UInt8 = 15

  // The code points in between are control characters.
  private static let ranges = [32...126, 160...255]
  private static let area = width * height
  /// One level per pixel, row by row, glyph after glyph.
  private static let pixels = levels.utf8.map { digit in
    digit < UInt8(ascii: "a") ? digit - UInt8(ascii: "0") : digit - UInt8(ascii: "a") + 10
  }

  /// The coverage of each pixel by the glyph, `width` per row, `height` rows. A character outside
  /// Latin-1 is an empty box.
  package static func coverage(of letter: Unicode.Scalar) -> ArraySlice<UInt8> {
    var start = 0
    for range in ranges {
      if range.contains(Int(letter.value)) {
        let place = (start + Int(letter.value) - range.lowerBound) * area
        return pixels[place..<place + area]
      }
      start += range.count
    }
    return unknown[...]
  }

  /// The width of a line of text, in pixels.
  package static func width(of text: String, scale: Int) -> Int {
    text.unicodeScalars.count * width * scale
  }

  private static let unknown: [UInt8] = (0..<area).map { place in
    let (x, y) = (place % width, place / width)
    let isInside = (1...6).contains(x) && (3...12).contains(y)
    let isBorder = x == 1 || x == 6 || y == 3 || y == 12
    return isInside && isBorder ? levelMax : 0
  }
}
