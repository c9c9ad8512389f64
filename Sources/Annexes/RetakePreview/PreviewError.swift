public import RetakeCore

/// Errors that keep a window from showing images.
public enum PreviewError: RetakeError, Hashable {
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
  /// A grading's code is wrong, in the given line, from 1; without a line, the code is wrong in
  /// general, or its file cannot be read.
  case shader(path: String?, line: Int?, cause: String)
  /// A grading needs OpenGL, and the window is drawn without it.
  case noShaders(renderer: String, cause: String?)
  /// A track has no frame that can be shown.
  case noFrames(path: String, track: Int)
  /// The requested start of a player is not a frame.
  case noSuchFrame(path: String, start: String, count: Int)
  /// An image of the window could not be written.
  case notWritten(path: String, cause: String)

  /// The cause if a PNG would be printed on a terminal.
  package static let terminal = "it is a terminal"

  package var facts: ErrorFacts {
    switch self {
    case .noLibrary(let cause):
      ErrorFacts(
        "preview.sdl.missing", "the library that opens windows, SDL 2, could not be loaded",
        cause: Self.text(cause),
        advice: "Type: apt-get install libsdl2-2.0-0    "
          + "(or Scripts/setup, which installs all that is needed)")
    case .oldLibrary(let symbol):
      ErrorFacts(
        "preview.sdl.old", "this SDL 2 is too old: it has no \(symbol)",
        advice: "SDL 2.0.18 or newer is needed. Type: apt-get install libsdl2-2.0-0")
    case .noDisplay(let cause):
      ErrorFacts(
        "preview.display.none", "there is no display to open a window on", cause: Self.text(cause),
        // SDL's message for a driver that was requested but does not exist.
        advice: cause.hasSuffix(" not available")
          ? "SDL_VIDEODRIVER names a driver that this SDL does not have: unset SDL_VIDEODRIVER"
          : "Set DISPLAY or WAYLAND_DISPLAY to a running one; or without a screen: "
            + "xvfb-run -a retake view …    (apt-get install xvfb)")
    case .displayLost:
      ErrorFacts("preview.display.lost", "the connection to the display was lost")
    case .noWindow(let cause):
      ErrorFacts(
        "preview.window.failed", "the window could not be opened", cause: Self.text(cause),
        advice: "Try SDL_RENDER_DRIVER=software, which works everywhere")
    case .renderer(let step, let cause):
      ErrorFacts(
        "preview.renderer.failed", "the window's renderer failed: \(step)",
        cause: Self.text(cause),
        advice: "Try SDL_RENDER_DRIVER=software, which works everywhere")
    case .shader(let path, let line, let cause):
      ErrorFacts(
        "preview.shader.invalid", "the grading cannot be used", cause: Self.text(cause),
        place: Place(file: path, part: line.map { "line \($0)" }),
        advice: "It is GLSL 1.20 with a function: vec3 grade(vec3 rgb, vec2 at)")
    case .noShaders(let renderer, let cause):
      ErrorFacts(
        "preview.shader.noOpenGL",
        "a grading needs OpenGL, and the renderer of this window is '\(renderer)'",
        cause: cause.flatMap(Self.text),
        advice: cause == nil
          ? "SDL_RENDER_DRIVER names that renderer: unset SDL_RENDER_DRIVER"
          : "Install a driver for OpenGL: apt-get install libgl1-mesa-dri libglx-mesa0")
    case .noFrames(let path, let track):
      ErrorFacts(
        "preview.frames.none", "track \(track) has no frames to show", at: path,
        advice: "Choose another track with --track; retake session info lists them")
    case .noSuchFrame(let path, let start, let count):
      ErrorFacts(
        "preview.frames.noSuch", "there is no frame at \(start); the track has \(count)", at: path)
    case .notWritten(let path, let cause):
      ErrorFacts(
        "preview.screenshot.notWritten", "the screenshot could not be written",
        cause: Self.text(cause), at: path,
        advice: cause == Self.terminal ? "Name a file, or a reader: --screenshot - | display" : nil)
    }
  }

  private static func text(_ cause: String) -> String? { cause.isEmpty ? nil : cause }

  /// A stable, dotted name of the case, with the module first: `"preview.shader.invalid"`.
  public var code: String { facts.code }
  /// One sentence in the user's terms, without the place and without advice.
  public var message: String { facts.message }
  /// The message of SDL, OpenGL or the system; `nil` if they reported no message.
  public var cause: String? { facts.cause }
  /// Where the problem is; `nil` if the error has no place.
  public var place: Place? { facts.place }
  /// The next step for the user, with an exact command if there is one.
  public var advice: String? { facts.advice }
}
