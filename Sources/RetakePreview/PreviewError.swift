import RetakeCore

/// Errors that keep a window from showing images.
public enum PreviewError: CodedError, Hashable {
  /// SDL 2 is not installed on this machine, or cannot be loaded.
  case noLibrary(cause: String)
  /// SDL 2 is installed but lacks a function.
  case oldLibrary(symbol: String)
  /// No display is available for a window.
  case noDisplay(cause: String)
  /// The display was lost while a window was open.
  case displayLost
  /// The window or its renderer could not be created.
  case noWindow(cause: String)
  /// The renderer did not accept an image, or did not return one.
  case renderer(step: String, cause: String)
  /// A track has no frame that can be shown.
  case noFrames(path: String, track: Int)
  /// The requested start of a player is not a frame.
  case noSuchFrame(path: String, start: String, count: Int)
  /// An image of the window could not be written.
  case notWritten(path: String, cause: String)

  /// The cause if a PNG would be printed on a terminal.
  package static let terminal = "it is a terminal"

  public var code: String {
    switch self {
    case .noLibrary: "preview.sdl.missing"
    case .oldLibrary: "preview.sdl.old"
    case .noDisplay: "preview.display.none"
    case .displayLost: "preview.display.lost"
    case .noWindow: "preview.window.failed"
    case .renderer: "preview.renderer.failed"
    case .noFrames: "preview.frames.none"
    case .noSuchFrame: "preview.frames.noSuch"
    case .notWritten: "preview.screenshot.notWritten"
    }
  }

  public var message: String {
    switch self {
    case .noLibrary: "the library that opens windows, SDL 2, could not be loaded"
    case .oldLibrary(let symbol): "this SDL 2 is too old: it has no \(symbol)"
    case .noDisplay: "there is no display to open a window on"
    case .displayLost: "the display went away"
    case .noWindow: "the window could not be opened"
    case .renderer(let step, _): "the window's renderer failed: \(step)"
    case .noFrames(_, let track): "track \(track) has no frames to show"
    case .noSuchFrame(_, let start, let count):
      "there is no frame at \(start); the track has \(count)"
    case .notWritten: "the picture of the window could not be written"
    }
  }

  public var cause: String? {
    switch self {
    case .noLibrary(let cause), .noDisplay(let cause), .noWindow(let cause),
      .renderer(_, let cause), .notWritten(_, let cause):
      cause.isEmpty ? nil : cause
    case .oldLibrary, .displayLost, .noFrames, .noSuchFrame: nil
    }
  }

  public var place: Place? {
    switch self {
    case .noFrames(let path, _), .noSuchFrame(let path, _, _), .notWritten(let path, _):
      Place(file: path)
    default: nil
    }
  }

  public var advice: String? {
    switch self {
    case .noLibrary:
      "Type: apt-get install libsdl2-2.0-0    (or Scripts/setup, which installs all that is needed)"
    case .oldLibrary: "SDL 2.0.18 or newer is needed. Type: apt-get install libsdl2-2.0-0"
    // SDL's message for a driver that was requested but does not exist.
    case .noDisplay(let cause) where cause.hasSuffix(" not available"):
      "SDL_VIDEODRIVER names a driver that this SDL does not have: unset SDL_VIDEODRIVER"
    case .noDisplay:
      "Set DISPLAY or WAYLAND_DISPLAY to a running one; or without a screen: "
        + "xvfb-run -a retake view …    (apt-get install xvfb)"
    case .noWindow: "SDL_RENDER_DRIVER=software takes the renderer that works everywhere"
    case .renderer: "Try SDL_RENDER_DRIVER=software, which works everywhere"
    case .noFrames: "Choose another one with --track; retake session info lists them"
    case .notWritten(_, let cause) where cause == PreviewError.terminal:
      "Name a file, or a reader: --screenshot - | display"
    case .displayLost, .noSuchFrame, .notWritten: nil
    }
  }
}
