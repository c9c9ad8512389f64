/// The connection to a display, for as long as a window may be open.
final class CanvasDisplay {
  // SAFETY: SDL counts these calls; each `init` is followed by one `deinit`.
  let sdl: SDLFunctions

  /// - Throws: `PreviewError.noDisplay`.
  init(_ sdl: SDLFunctions) throws {
    self.sdl = sdl
    guard sdl.initSubSystem(SDLNumber.initVideo) == 0 else {
      throw PreviewError.noDisplay(cause: sdl.errorText)
    }
  }

  deinit {
    // SDL would ask the lost display to destroy the window, and Xlib would end the process.
    if !DisplayLoss.hasRefused { sdl.quitSubSystem(SDLNumber.initVideo) }
  }
}

/// The window or memory that a painter draws on. Painters keep it, so that it is destroyed after
/// them, as SDL requires.
final class CanvasTarget {
  // SAFETY: the window or the surface is created once, used by one thread, and destroyed once in
  // `deinit`.
  let sdl: SDLFunctions
  /// `nil` for memory.
  let window: SDLFunctions.Pointer?
  private let surface: SDLFunctions.Pointer?
  private let display: CanvasDisplay?

  /// - Parameter surface: This target frees it.
  init(_ sdl: SDLFunctions, surface: SDLFunctions.Pointer) {
    (self.sdl, self.surface, window, display) = (sdl, surface, nil, nil)
  }

  /// Opens a window.
  ///
  /// - Parameter flavour: The OpenGL that will draw on it, if any does.
  /// - Throws: `PreviewError.noDisplay`.
  init(
    _ display: CanvasDisplay, _ wanted: Canvas.Window, _ flavour: GLPainter.Flavour?
  ) throws {
    let sdl = display.sdl
    if let flavour { GLPainter.request(flavour, sdl) }
    let place = SDLNumber.windowCentered
    guard
      let window = sdl.createWindow(
        wanted.title, place, place, Int32(wanted.width), Int32(wanted.height),
        SDLNumber.windowResizable | SDLNumber.windowAllowHighDPI
          | (flavour == nil ? 0 : SDLNumber.windowOpenGL))
    else { throw PreviewError.noDisplay(cause: sdl.errorText) }
    (self.sdl, self.display, self.window, surface) = (sdl, display, window, nil)
  }

  deinit {
    if let surface { sdl.freeSurface(surface) }
    // See `CanvasDisplay`.
    if let window, !DisplayLoss.hasRefused { sdl.destroyWindow(window) }
  }
}
