/// The glyphs of `GlyphSheet` as a texture of SDL's renderer.
final class SDLGlyphs: GlyphPainter {
  // SAFETY: the texture belongs to the painter's renderer, which outlives it because of the
  // reference below; it is destroyed once, in `deinit`. Its pixels are read from an array of
  // exactly their size.
  private let painter: SDLPainter
  private let texture: SDLFunctions.Pointer

  /// - Throws: `PreviewError.renderer`.
  init(_ painter: SDLPainter) throws {
    self.painter = painter
    let sdl = painter.sdl
    guard
      let texture = sdl.createTexture(
        painter.pointer, SDLNumber.formatABGR8888, SDLNumber.streaming, Int32(GlyphSheet.width),
        Int32(GlyphSheet.height))
    else { throw PreviewError.renderer(step: "making the letters", cause: sdl.errorText) }
    self.texture = texture
    // White, with the coverage as opacity, so that modulation can color the letters.
    let pixels = GlyphSheet.coverage.flatMap { [255, 255, 255, $0] as [UInt8] }
    let result = sdl.updateTexture(texture, nil, pixels, Int32(GlyphSheet.width * 4))
    _ = sdl.setTextureBlendMode(texture, SDLNumber.blendAlpha)
    _ = sdl.setTextureScaleMode(texture, SDLNumber.scaleNearest)
    guard result == 0 else {
      throw PreviewError.renderer(step: "making the letters", cause: sdl.errorText)
    }
  }

  deinit { painter.sdl.destroyTexture(texture) }

  func write(_ text: String, x: Int, y: Int, scale: Int, _ color: CanvasColor) {
    let sdl = painter.sdl
    _ = sdl.setTextureColorMod(texture, color.red, color.green, color.blue)
    _ = sdl.setTextureAlphaMod(texture, color.alpha)
    for place in GlyphSheet.places(of: text, x: x, y: y, scale: scale) {
      var source = SDLRect(place.source)
      var target = SDLRect(place.target)
      _ = sdl.renderCopy(painter.pointer, texture, &source, &target)
    }
  }
}
