import Foundation

/// A drawing surface: a window, or memory that is not displayed.
///
/// Use it only on the thread that created it; for a window, that is the main thread.
final class Canvas {
  // SAFETY: the window's pointer is used while `target` keeps it; one thread uses it.
  let painter: any CanvasPainter
  private let target: CanvasTarget

  struct Window: Hashable, Sendable {
    var title: String
    var width: Int
    var height: Int
    /// Whether `present` waits for the screen's refresh.
    var waitsForScreen = true
    /// Whether each step waits until the device has done it, to measure the steps apart. Waiting is
    /// slower than a device that works while the thread continues.
    var waitsForDevice = false
    /// The renderer: `opengl`, `opengles2`, or SDL's name of a renderer, such as `software`. If
    /// `nil`, the environment's SDL_RENDER_DRIVER, or else OpenGL if the machine has it.
    var driver: String?
  }

  private init(_ target: CanvasTarget, _ painter: any CanvasPainter) {
    (self.target, self.painter) = (target, painter)
  }

  /// A canvas in memory, drawn by SDL's own renderer: the same pixels on every machine.
  ///
  /// - Throws: `PreviewError`.
  static func memory(width: Int, height: Int) throws -> Canvas {
    let sdl = try SDLFunctions.load()
    guard
      let surface = sdl.createSurface(
        0, Int32(width), Int32(height), 32, SDLNumber.formatARGB8888)
    else { throw PreviewError.noWindow(cause: sdl.errorText) }
    let target = CanvasTarget(sdl, surface: surface)
    guard let renderer = sdl.createSoftwareRenderer(surface) else {
      throw PreviewError.noWindow(cause: sdl.errorText)
    }
    return Canvas(target, SDLPainter(target, renderer))
  }

  /// Opens a window. Call it on the main thread.
  ///
  /// - Throws: `PreviewError`: no SDL, no display, no renderer.
  static func window(_ wanted: Window) throws -> Canvas {
    let sdl = try SDLFunctions.load()
    // Required before SDL_InitSubSystem in a program that does not use SDL's own `main`.
    sdl.setMainReady()
    // Signals must end a command as usual.
    _ = sdl.setHint("SDL_NO_SIGNAL_HANDLERS", "1")
    // By default SDL asks the desktop to switch its compositor off, as for a game.
    _ = sdl.setHint("SDL_VIDEO_X11_NET_WM_BYPASS_COMPOSITOR", "0")
    let display = try CanvasDisplay(sdl)
    if let driver = sdl.getCurrentVideoDriver().map({ String(cString: $0) }),
      showsNothing(driver)
    {
      throw PreviewError.noDisplay(
        cause: "SDL only offers its driver '\(driver)', which draws nowhere")
    }
    let driver = wanted.driver ?? ProcessInfo.processInfo.environment["SDL_RENDER_DRIVER"] ?? ""
    var cause: String?
    for flavour in GLPainter.Flavour.allCases where driver.isEmpty || driver == flavour.name {
      do {
        let target = try CanvasTarget(display, wanted, flavour)
        let painter = try GLPainter(target, flavour, wanted)
        DisplayLoss.listen()
        return Canvas(target, painter)
      } catch let error as PreviewError {
        // The error of the first flavor is reported, because few machines have the other flavor.
        cause = cause ?? error.cause ?? error.message
      }
    }
    // Machines without OpenGL have SDL's software renderer alone.
    let target = try CanvasTarget(display, wanted, nil)
    let painter = try SDLPainter(
      target, driver: driver, waitsForScreen: wanted.waitsForScreen, fallbackCause: cause)
    DisplayLoss.listen()
    return Canvas(target, painter)
  }

  /// SDL uses drivers that do not show a window only if no other driver is available. A user who
  /// names such a driver wants it.
  private static func showsNothing(_ driver: String) -> Bool {
    let wanted = ProcessInfo.processInfo.environment["SDL_VIDEODRIVER"] ?? ""
    return wanted.isEmpty && ["dummy", "evdev", "offscreen"].contains(driver)
  }

  private var sdl: SDLFunctions { target.sdl }

  func setSize(width: Int, height: Int) {
    if let window = target.window { sdl.setWindowSize(window, Int32(width), Int32(height)) }
  }

  func setFullscreen(_ isFull: Bool) {
    if let window = target.window {
      _ = sdl.setWindowFullscreen(window, isFull ? SDLNumber.fullscreenDesktop : 0)
    }
  }

  var area: CanvasRect { painter.area }

  var renderer: WindowRenderer { painter.renderer }

  /// The next event of the window, or `nil` if no event arrives within the wait.
  func nextEvent(waitMilliseconds: Int) -> WindowEvent? {
    guard target.window != nil else { return nil }
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
        // An event of no interest must not restart the wait.
        wait = 0
      }
      return nil
    }
  }

  /// Converts a position from the window's units to canvas pixels.
  func pixel(x: Int, y: Int) -> (x: Int, y: Int) {
    guard let window = target.window else { return (x, y) }
    var (width, height): (Int32, Int32) = (0, 0)
    sdl.getWindowSize(window, &width, &height)
    guard width > 0, height > 0 else { return (x, y) }
    let area = area
    // On a display with a scale factor the window's units are larger than pixels.
    return (x * area.width / Int(width), y * area.height / Int(height))
  }
}
