import Foundation
import RetakeBuffers
import RetakeCore

/// A drawing surface: a window, or memory that is not displayed.
///
/// Use it only on the thread that created it; for a window, that is the main thread.
final class Canvas {
  // SAFETY: the window, the surface and the renderer are created once in `init`, used by one
  // thread, and freed once in `deinit`, the renderer first, as SDL requires.
  let sdl: SDLFunctions
  let renderer: SDLFunctions.Pointer
  private let window: SDLFunctions.Pointer?
  private let surface: SDLFunctions.Pointer?
  /// The name of the renderer: `opengl`, `software`.
  let rendererName: String

  struct Window: Hashable, Sendable {
    var title: String
    var width: Int
    var height: Int
    /// Whether `present` waits for the screen's refresh.
    var waitsForScreen = true
    /// SDL's name of the renderer; if `nil`, that of the environment's SDL_RENDER_DRIVER, or SDL's
    /// choice.
    var driver: String?
  }

  /// A canvas in memory, drawn by SDL's own renderer: the same pixels on every machine.
  ///
  /// - Throws: `PreviewError`.
  static func memory(width: Int, height: Int) throws(PreviewError) -> Canvas {
    let sdl = try SDLFunctions.load()
    guard
      let surface = sdl.createSurface(
        0, Int32(width), Int32(height), 32, SDLNumber.formatARGB8888)
    else { throw .noWindow(cause: sdl.errorText) }
    guard let renderer = sdl.createSoftwareRenderer(surface) else {
      sdl.freeSurface(surface)
      throw .noWindow(cause: sdl.errorText)
    }
    return Canvas(sdl, renderer, window: nil, surface: surface)
  }

  /// Opens a window. Call it on the main thread.
  ///
  /// - Throws: `PreviewError`: no SDL, no display, no renderer.
  static func window(_ wanted: Window) throws(PreviewError) -> Canvas {
    let sdl = try SDLFunctions.load()
    // Required before SDL_InitSubSystem in a program that does not use SDL's own `main`.
    sdl.setMainReady()
    // Signals must end a command as usual.
    _ = sdl.setHint("SDL_NO_SIGNAL_HANDLERS", "1")
    // By default SDL asks the desktop to switch its compositor off, as for a game.
    _ = sdl.setHint("SDL_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR", "0")
    guard sdl.initSubSystem(SDLNumber.initVideo) == 0 else {
      throw .noDisplay(cause: sdl.errorText)
    }
    if let driver = sdl.getCurrentVideoDriver().map({ String(cString: $0) }),
      showsNothing(driver)
    {
      sdl.quitSubSystem(SDLNumber.initVideo)
      throw .noDisplay(cause: "SDL only offers its driver '\(driver)', which draws nowhere")
    }
    let place = SDLNumber.windowCentered
    guard
      let window = sdl.createWindow(
        wanted.title, place, place, Int32(wanted.width), Int32(wanted.height),
        SDLNumber.windowResizable | SDLNumber.windowAllowHighDPI)
    else {
      // Read first, because the calls that clean up may replace it.
      let cause = sdl.errorText
      sdl.quitSubSystem(SDLNumber.initVideo)
      throw .noDisplay(cause: cause)
    }
    if let driver = wanted.driver { _ = sdl.setHint("SDL_RENDER_DRIVER", driver) }
    let flags = wanted.waitsForScreen ? SDLNumber.rendererVsync : 0
    guard
      // Machines without a GPU, and virtual displays, have the software renderer alone.
      let renderer = sdl.createRenderer(window, -1, flags)
        ?? sdl.createRenderer(window, -1, SDLNumber.rendererSoftware)
    else {
      let cause = sdl.errorText
      sdl.destroyWindow(window)
      sdl.quitSubSystem(SDLNumber.initVideo)
      throw .noWindow(cause: cause)
    }
    DisplayLoss.listen()
    return Canvas(sdl, renderer, window: window, surface: nil)
  }

  /// SDL uses drivers that show nothing only if no other driver is available. A user who names such
  /// a driver wants it.
  private static func showsNothing(_ driver: String) -> Bool {
    let wanted = ProcessInfo.processInfo.environment["SDL_VIDEODRIVER"] ?? ""
    return wanted.isEmpty && ["dummy", "evdev", "offscreen"].contains(driver)
  }

  private init(
    _ sdl: SDLFunctions, _ renderer: SDLFunctions.Pointer, window: SDLFunctions.Pointer?,
    surface: SDLFunctions.Pointer?
  ) {
    (self.sdl, self.renderer, self.window, self.surface) = (sdl, renderer, window, surface)
    var info = SDLRendererInfo()
    // SAFETY: the name is a string literal in the library.
    rendererName =
      sdl.getRendererInfo(renderer, &info) == 0
      ? info.name.map { String(cString: $0) } ?? "?" : "?"
    _ = sdl.setRenderDrawBlendMode(renderer, SDLNumber.blendAlpha)
  }

  deinit {
    // SDL would ask the display to destroy a window that no longer exists, and Xlib would end the
    // process.
    if window != nil, DisplayLoss.hasRefused { return }
    sdl.destroyRenderer(renderer)
    if let surface { sdl.freeSurface(surface) }
    if let window {
      sdl.destroyWindow(window)
      sdl.quitSubSystem(SDLNumber.initVideo)
    }
  }

  /// The whole drawing area, in pixels.
  var area: CanvasRect {
    var (width, height): (Int32, Int32) = (0, 0)
    _ = sdl.getRendererOutputSize(renderer, &width, &height)
    return CanvasRect(0, 0, Int(width), Int(height))
  }

  func setTitle(_ title: String) {
    if let window { sdl.setWindowTitle(window, title) }
  }

  func setSize(width: Int, height: Int) {
    if let window { sdl.setWindowSize(window, Int32(width), Int32(height)) }
  }

  func setFullscreen(_ isFull: Bool) {
    if let window {
      _ = sdl.setWindowFullscreen(window, isFull ? SDLNumber.fullscreenDesktop : 0)
    }
  }

  func clear(_ color: CanvasColor) {
    use(color)
    _ = sdl.renderClear(renderer)
  }

  func fill(_ rects: [CanvasRect], _ color: CanvasColor) {
    guard !rects.isEmpty else { return }
    use(color)
    _ = sdl.renderFillRects(renderer, rects.map(SDLRect.init), Int32(rects.count))
  }

  /// A line through all points, one pixel wide.
  func line(_ points: [(x: Int, y: Int)], _ color: CanvasColor) {
    guard points.count > 1 else { return }
    use(color)
    let own = points.map { SDLPoint(x: Int32(clamping: $0.x), y: Int32(clamping: $0.y)) }
    _ = sdl.renderDrawLines(renderer, own, Int32(own.count))
  }

  /// Restricts drawing to a rectangle, until it is called with `nil`.
  func clip(to rect: CanvasRect?) {
    guard let rect else {
      _ = sdl.renderSetClipRect(renderer, nil)
      return
    }
    var own = SDLRect(rect)
    _ = sdl.renderSetClipRect(renderer, &own)
  }

  private func use(_ color: CanvasColor) {
    _ = sdl.setRenderDrawColor(renderer, color.red, color.green, color.blue, color.alpha)
  }

  /// Shows what was drawn, and waits for the screen if the window was opened that way.
  func present() { sdl.renderPresent(renderer) }

  /// What has been drawn so far, as a BGRA image.
  ///
  /// - Throws: `PreviewError.renderer`.
  func picture() throws(PreviewError) -> Frame {
    let area = area
    var result: Int32 = 0
    let storage = FrameStorage.makeIfRoom(format: .bgra, width: area.width, height: area.height) {
      planes, strides in
      guard let base = planes[0].baseAddress else { return }
      // SAFETY: the memory has `height` rows of `strides[0]` bytes.
      result = sdl.renderReadPixels(
        renderer, nil, SDLNumber.formatARGB8888, base, Int32(strides[0]))
    }
    guard let storage else {
      throw .renderer(step: "reading pixels", cause: "there was no memory for them")
    }
    guard result == 0 else { throw .renderer(step: "reading pixels", cause: sdl.errorText) }
    return Frame(
      format: .bgra, width: area.width, height: area.height, range: .full, storage: storage)
  }

  /// The next event of the window, or `nil` if none arrives within the wait.
  func nextEvent(waitMilliseconds: Int) -> WindowEvent? {
    guard window != nil else { return nil }
    // The window no longer exists; the caller ends as if the user had closed it.
    if DisplayLoss.hasRefused { return .close }
    // 64-bit words, for the alignment of SDL's union.
    var bytes = [UInt64](repeating: 0, count: SDLEvent.byteCount / 8)
    var wait = Int32(clamping: waitMilliseconds)
    // Ends: at the first event of interest, or when no event arrives.
    return bytes.withUnsafeMutableBytes { bytes in
      guard let base = bytes.baseAddress else { return nil }
      // SAFETY: SDL fills at most the 56 bytes that the buffer has.
      while sdl.waitEventTimeout(base, wait) == 1 {
        if let event = SDLEvent.parse(UnsafeRawBufferPointer(bytes)) { return event }
        // An event of no interest must not begin the whole wait again.
        wait = 0
      }
      return nil
    }
  }

  /// Converts a position from the window's units to canvas pixels.
  func pixel(x: Int, y: Int) -> (x: Int, y: Int) {
    guard let window else { return (x, y) }
    var (width, height): (Int32, Int32) = (0, 0)
    sdl.getWindowSize(window, &width, &height)
    guard width > 0, height > 0 else { return (x, y) }
    let area = area
    // On a display with a scale factor the window's units are larger than pixels.
    return (x * area.width / Int(width), y * area.height / Int(height))
  }
}
