import RetakeBuffers

/// Draws with a renderer of SDL: on a window without OpenGL, or in memory.
final class SDLPainter: CanvasPainter {
  // SAFETY: the renderer belongs to the window or the surface of `target`, which is destroyed after
  // this painter. It is destroyed once, in `deinit`; it is used by one thread.
  let renderer: WindowRenderer
  let pointer: SDLFunctions.Pointer
  private let target: CanvasTarget

  var sdl: SDLFunctions { target.sdl }

  /// - Parameter renderer: This painter destroys it.
  init(_ target: CanvasTarget, _ renderer: SDLFunctions.Pointer, fallbackCause: String? = nil) {
    (self.target, pointer) = (target, renderer)
    let sdl = target.sdl
    var info = SDLRendererInfo()
    // SAFETY: the name is a string literal in the library.
    let name =
      sdl.getRendererInfo(renderer, &info) == 0
      ? info.name.map { String(cString: $0) } ?? "?" : "?"
    self.renderer = WindowRenderer(
      name: name, isSoftware: info.flags & SDLNumber.rendererSoftware != 0,
      fallbackCause: fallbackCause)
    _ = sdl.setRenderDrawBlendMode(renderer, SDLNumber.blendAlpha)
  }

  /// A renderer for a window.
  ///
  /// - Parameters:
  ///   - driver: SDL's name of it; empty is SDL's choice.
  ///   - fallbackCause: Why OpenGL does not draw.
  /// - Throws: `PreviewError.noWindow`.
  convenience init(
    _ target: CanvasTarget, driver: String, waitsForScreen: Bool, fallbackCause: String?
  ) throws {
    let sdl = target.sdl
    guard let window = target.window else {
      throw PreviewError.noWindow(cause: "there is no window")
    }
    if !driver.isEmpty { _ = sdl.setHint("SDL_RENDER_DRIVER", driver) }
    let flags = waitsForScreen ? SDLNumber.rendererVsync : 0
    guard
      let renderer = sdl.createRenderer(window, -1, flags)
        ?? sdl.createRenderer(window, -1, SDLNumber.rendererSoftware)
    else { throw PreviewError.noWindow(cause: sdl.errorText) }
    self.init(target, renderer, fallbackCause: fallbackCause)
  }

  deinit {
    // With a display that refused a request, SDL's next one would end the process.
    if !DisplayLoss.hasRefused { sdl.destroyRenderer(pointer) }
  }

  var area: CanvasRect {
    var (width, height): (Int32, Int32) = (0, 0)
    _ = sdl.getRendererOutputSize(pointer, &width, &height)
    return CanvasRect(0, 0, Int(width), Int(height))
  }

  func clear(_ color: CanvasColor) {
    use(color)
    _ = sdl.renderClear(pointer)
  }

  func fill(_ rects: [CanvasRect], _ color: CanvasColor) {
    guard !rects.isEmpty else { return }
    use(color)
    _ = sdl.renderFillRects(pointer, rects.map(SDLRect.init), Int32(rects.count))
  }

  func clip(to rect: CanvasRect?) {
    guard let rect else {
      _ = sdl.renderSetClipRect(pointer, nil)
      return
    }
    var own = SDLRect(rect)
    _ = sdl.renderSetClipRect(pointer, &own)
  }

  private func use(_ color: CanvasColor) {
    _ = sdl.setRenderDrawColor(pointer, color.red, color.green, color.blue, color.alpha)
  }

  func uploaded() {}

  func flush() { _ = sdl.renderFlush(pointer) }

  func present() { sdl.renderPresent(pointer) }

  func picture() throws -> Frame {
    let area = area
    var result: Int32 = 0
    let storage = FrameStorage.makeIfRoom(format: .bgra, width: area.width, height: area.height) {
      planes, strides in
      guard let base = planes[0].baseAddress else { return }
      // SAFETY: the memory has `height` rows of `strides[0]` bytes.
      result = sdl.renderReadPixels(
        pointer, nil, SDLNumber.formatARGB8888, base, Int32(strides[0]))
    }
    guard let storage else {
      throw PreviewError.renderer(step: "reading pixels", cause: "there was no memory for them")
    }
    guard result == 0 else {
      throw PreviewError.renderer(step: "reading pixels", cause: sdl.errorText)
    }
    return Frame(
      format: .bgra, width: area.width, height: area.height, range: .full, storage: storage)
  }

  func makeGlyphs() throws -> any GlyphPainter { try SDLGlyphs(self) }

  func makeImage(_ grading: Grading?) throws -> any ImagePainter {
    guard grading == nil else {
      throw PreviewError.noShaders(renderer: renderer.name, cause: renderer.fallbackCause)
    }
    return SDLImage(self)
  }
}
