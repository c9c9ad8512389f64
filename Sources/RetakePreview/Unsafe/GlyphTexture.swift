import RetakeStages

/// The glyphs of `GlyphAtlas` as a texture of the renderer.
final class GlyphTexture {
  // SAFETY: the texture belongs to the canvas's renderer, which outlives it because of the
  // reference below; it is destroyed once, in `deinit`. Its pixels are read from an array of
  // exactly their size.
  private static let columns = 16
  /// One cell for each of the first 256 code points. The last cell is the box for characters
  /// without a glyph.
  private static let cells = 257
  private static let rows = (cells + columns - 1) / columns

  private let canvas: Canvas
  private let texture: SDLFunctions.Pointer

  /// - Throws: `PreviewError.renderer`.
  init(_ canvas: Canvas) throws(PreviewError) {
    self.canvas = canvas
    let (width, height) = (Self.columns * GlyphAtlas.width, Self.rows * GlyphAtlas.height)
    guard
      let texture = canvas.sdl.createTexture(
        canvas.renderer, SDLNumber.formatABGR8888, SDLNumber.streaming, Int32(width),
        Int32(height))
    else { throw .renderer(step: "making the letters", cause: canvas.sdl.errorText) }
    self.texture = texture
    // White, with the coverage as opacity, so that modulation gives the letters any colour.
    var pixels = [UInt8](repeating: 255, count: width * height * 4)
    for cell in 0..<Self.cells {
      let letter = Unicode.Scalar(UInt32(cell)) ?? " "
      for (place, level) in GlyphAtlas.coverage(of: letter).enumerated() {
        let x = cell % Self.columns * GlyphAtlas.width + place % GlyphAtlas.width
        let y = cell / Self.columns * GlyphAtlas.height + place / GlyphAtlas.width
        pixels[(y * width + x) * 4 + 3] = level * (255 / GlyphAtlas.levelMax)
      }
    }
    let result = canvas.sdl.updateTexture(texture, nil, pixels, Int32(width * 4))
    _ = canvas.sdl.setTextureBlendMode(texture, SDLNumber.blendAlpha)
    _ = canvas.sdl.setTextureScaleMode(texture, SDLNumber.scaleNearest)
    guard result == 0 else {
      throw .renderer(step: "making the letters", cause: canvas.sdl.errorText)
    }
  }

  deinit { canvas.sdl.destroyTexture(texture) }

  /// Writes a line, starting at its top left corner.
  ///
  /// - Parameter scale: The width of a glyph's pixel in canvas pixels.
  func write(_ text: String, x: Int, y: Int, scale: Int = 1, _ color: CanvasColor) {
    _ = canvas.sdl.setTextureColorMod(texture, color.red, color.green, color.blue)
    _ = canvas.sdl.setTextureAlphaMod(texture, color.alpha)
    let (width, height) = (GlyphAtlas.width, GlyphAtlas.height)
    for (index, letter) in text.unicodeScalars.enumerated() where letter != " " {
      let cell = min(Int(letter.value), Self.cells - 1)
      var source = SDLRect(
        CanvasRect(cell % Self.columns * width, cell / Self.columns * height, width, height))
      var target = SDLRect(
        CanvasRect(x + index * width * scale, y, width * scale, height * scale))
      _ = canvas.sdl.renderCopy(canvas.renderer, texture, &source, &target)
    }
  }
}
