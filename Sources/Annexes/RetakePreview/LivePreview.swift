import RetakeCore
import RetakeRuntime
import RetakeStages

/// Shows the frames of a feed in a window. Use it on the main thread.
///
/// Threads that offer frames never wait for it: while it draws or hangs, the feed drops frames.
public final class LivePreview {
  private let feed: PreviewFeed
  private let clock: any LiveClock
  private let view: PreviewImageView
  private let title: String
  private var showsResults = true
  private var isFull = false
  private var hasSize = false
  /// The sequence, results and age of the shown frame. Its pixels are in the renderer, and its
  /// buffer is free.
  private var shown: (sequence: Int, result: PreviewResult?, ageNanoseconds: Int64?)?

  /// The longest wait for a frame, which is also the longest delay before the window responds.
  private static let waitNanosecondsMax: Int64 = 5_000_000

  /// Opens the window. Frames may be offered before and after.
  ///
  /// - Parameters:
  ///   - feed: The frames and results that are shown.
  ///   - title: The window's title.
  ///   - waitsForScreen: Whether each image waits for the screen's refresh.
  ///   - grading: Code that changes the images' colors; it needs OpenGL.
  /// - Throws: `PreviewError`.
  public convenience init(
    _ feed: PreviewFeed, title: String, waitsForScreen: Bool = true, grading: Grading? = nil
  ) throws {
    try self.init(
      feed, title: title, waitsForScreen: waitsForScreen, grading: grading,
      waitsForDevice: false)
  }

  /// - Parameter waitsForDevice: See `Canvas.Window.waitsForDevice`.
  init(
    _ feed: PreviewFeed, title: String, waitsForScreen: Bool, grading: Grading? = nil,
    waitsForDevice: Bool, clock: any LiveClock = WallClock()
  ) throws {
    (self.feed, self.title, self.clock) = (feed, title, clock)
    var window = Canvas.Window(
      title: title, width: 640, height: 480 + PlayerLayout.rowHeight)
    (window.waitsForScreen, window.waitsForDevice) = (waitsForScreen, waitsForDevice)
    view = try PreviewImageView(try Canvas.window(window), grading, clock: clock)
    feed.drawn(by: renderer)
    // The first frame may arrive seconds later, and until then the window would have undefined
    // content.
    try view.present(drawAll)
  }

  /// The renderer of the window.
  package var renderer: WindowRenderer { view.canvas.renderer }

  /// Shows frames until the user closes the window, the feed is closed, or `isEnded` returns
  /// `true`.
  ///
  /// It keeps its thread, and on the main thread the main actor, for all of that time. Read results
  /// in a `Task.detached`: a `Task` that inherits the main actor would begin only afterwards.
  ///
  /// - Parameter isEnded: Called on the same thread before each image, and every 5 ms without one.
  /// - Returns: Whether the user closed the window.
  /// - Throws: `PreviewError.renderer`, `MediaError.scale`.
  public func run(isEnded: () -> Bool) throws -> Bool {
    // Also when drawing fails: frames that wait would otherwise keep the camera's buffers.
    defer { feed.close() }
    // Ends: see above.
    while !isEnded(), !feed.isClosed {
      while let event = view.canvas.nextEvent(waitMilliseconds: 0) {
        if try isEnd(event) { return true }
      }
      guard let picture = feed.take() else {
        // SDL's events signals no condition, so the wait is short.
        clock.wait(
          untilNanoseconds: clock.monotonicNanoseconds + Self.waitNanosecondsMax, or: feed.arrived)
        continue
      }
      try show(picture)
    }
    return false
  }

  /// Writes a PNG of the window's content.
  ///
  /// - Throws: `PreviewError`, `MediaError`.
  public func screenshot(to path: String) throws {
    try drawAll()
    try Screenshot.write(view.canvas, to: path)
  }

  private func show(_ picture: consuming PreviewFeed.Image) throws {
    if !hasSize {
      hasSize = true
      let size = PlayerLayout.windowSize(
        ImageFit.naturalSize(
          width: picture.frame.width, height: picture.frame.height,
          aspect: picture.frame.sampleAspect, rotationDegrees: picture.frame.rotationDegrees),
        below: PlayerLayout.rowHeight)
      view.canvas.setSize(width: size.width, height: size.height)
    }
    try view.show(picture.frame, in: area)
    shown = (picture.frame.id.sequence, picture.result, picture.resultAgeNanoseconds)
    try view.present(drawAll)
    feed.presented(picture, view.steps)
  }

  private var area: CanvasRect {
    var area = view.canvas.area
    area.height = max(1, area.height - PlayerLayout.rowHeight)
    return area
  }

  private func drawAll() throws {
    let canvas = view.canvas
    canvas.painter.clear(ScreenColors.ground)
    // The window may have another size since the last frame.
    view.place(in: area)
    try view.draw(showsResults ? shown?.result : nil, ageNanoseconds: shown?.ageNanoseconds)
    let counts = feed.counts
    var text = shown.map { "frame \($0.sequence)" } ?? "waiting for the first frame"
    text += "  shown \(counts.shown)  dropped \(counts.dropped)"
    if counts.throttled > 0 { text += "  throttled \(counts.throttled)" }
    text += "  o: overlay  f: full screen  q: end"
    view.glyphs.write(text, x: 8, y: area.height + 1, ScreenColors.text)
  }

  private func isEnd(_ event: WindowEvent) throws -> Bool {
    switch event {
    case .close, .key(.escape), .key(.letter("q")): return true
    case .key(.letter("o")): showsResults.toggle()
    case .key(.letter("f")):
      isFull.toggle()
      view.canvas.setFullscreen(isFull)
    case .exposed, .key, .press, .pointer, .release: break
    }
    // The next frame comes soon enough to redraw everything else.
    return false
  }
}
