/// Draws letters.
protocol GlyphPainter: AnyObject {
  /// Writes a line, starting at its top left corner.
  ///
  /// - Parameter scale: The width of a glyph's pixel in canvas pixels.
  func write(_ text: String, x: Int, y: Int, scale: Int, _ color: CanvasColor)
}

extension GlyphPainter {
  func write(_ text: String, x: Int, y: Int, _ color: CanvasColor) {
    write(text, x: x, y: y, scale: 1, color)
  }
}
