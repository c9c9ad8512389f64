import RetakeStages

/// The glyphs of `GlyphAtlas` as one image, for a texture.
enum GlyphSheet {
  private static let columns = 16
  /// One cell for each of the first 256 code points. The last cell is the box for characters
  /// without a glyph.
  private static let cells = 257
  static let width = columns * GlyphAtlas.width
  static let height = (cells + columns - 1) / columns * GlyphAtlas.height

  /// How much of each pixel is covered: 0 to 255.
  static let coverage: [UInt8] = {
    var pixels = [UInt8](repeating: 0, count: width * height)
    for cell in 0..<cells {
      let letter = Unicode.Scalar(UInt32(cell)) ?? " "
      for (place, level) in GlyphAtlas.coverage(of: letter).enumerated() {
        let x = cell % columns * GlyphAtlas.width + place % GlyphAtlas.width
        let y = cell / columns * GlyphAtlas.height + place / GlyphAtlas.width
        pixels[y * width + x] = level * (255 / GlyphAtlas.levelMax)
      }
    }
    return pixels
  }()

  /// Where the letters of a line are: in the sheet, and on the canvas.
  ///
  /// - Parameter scale: The width of a glyph's pixel in canvas pixels.
  static func places(
    of text: String, x: Int, y: Int, scale: Int
  ) -> [(source: CanvasRect, target: CanvasRect)] {
    let (width, height) = (GlyphAtlas.width, GlyphAtlas.height)
    return text.unicodeScalars.enumerated().compactMap { index, letter in
      guard letter != " " else { return nil }
      let cell = min(Int(letter.value), cells - 1)
      return (
        CanvasRect(cell % columns * width, cell / columns * height, width, height),
        CanvasRect(x + index * width * scale, y, width * scale, height * scale)
      )
    }
  }
}
