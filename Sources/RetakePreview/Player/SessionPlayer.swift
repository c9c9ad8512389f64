import Foundation
import RetakeBuffers
import RetakeCore
import RetakeMedia
import RetakeRuntime

/// How a session is played.
public struct PlayerOptions: Hashable, Sendable {
  public var speed = 1.0
  /// The first frame that is shown: its place among the track's frames.
  public var first = 0
  /// Frames after which the window closes, or with the track's last one; `nil` leaves that to whoever
  /// watches.
  public var framesMax: Int?
  /// A PNG of the window with the last frame, written before it closes.
  public var screenshot: String?
  public var showsResults = true
  public var isPaused = false
  /// The window's size in pixels; as the picture wants it if `nil`.
  public var width: Int?
  public var height: Int?

  public init() {}
}

/// What came of a player.
public struct PlayerReport: Hashable, Sendable, Codable {
  /// Frames whose picture was on the screen.
  public var shown = 0
  /// Frames without a picture, in whose place the window said why.
  public var withoutImage = 0
  /// Frames that were skipped, because they came too fast to be read or shown.
  public var skipped = 0
  /// SDL's name of the renderer.
  public var renderer = ""

  public init() {}
}

/// Plays a session in a window. On the main thread.
public final class SessionPlayer {
  private let content: PlayerContent
  private let options: PlayerOptions
  private let clock: any LiveClock
  private let loader: FrameLoader
  private var state: PlayerState
  private var shown: PlayerScreen.Shown
  /// The frame that is on the screen.
  private var drawn: Int?
  private var isStale = true
  private var isEnding = false
  private var isFull = false
  /// Somebody went elsewhere since the last frame: what lies between was not passed over.
  private var isJump = false
  private var isScrubbing = false
  private var report = PlayerReport()

  /// How long one wait for an event may last: the window answers within it.
  private static let waitMillisecondsMax: Int64 = 8
  /// The same where nothing moves by itself. An event ends a wait.
  private static let restMilliseconds: Int64 = 100

  /// - Throws: `PreviewError.noSuchFrame`.
  public convenience init(_ content: PlayerContent, options: PlayerOptions) throws {
    try self.init(content, options: options, clock: WallClock())
  }

  init(_ content: PlayerContent, options: PlayerOptions, clock: any LiveClock) throws {
    guard content.entries.indices.contains(options.first) else {
      throw PreviewError.noSuchFrame(
        path: content.name, start: "\(options.first)", count: content.entries.count)
    }
    (self.content, self.options, self.clock) = (content, options, clock)
    loader = FrameLoader(content)
    state = PlayerState(
      times: content.entries.map(\.timestamp), first: options.first, speed: options.speed,
      isPaused: options.isPaused)
    shown = PlayerScreen.Shown(index: options.first, showsResults: options.showsResults)
  }

  /// Shows frames until somebody closes the window, or what the options say is reached.
  ///
  /// - Throws: `PreviewError`, and what the session throws of a frame that a picture was asked of.
  public func run(isInterrupted: () -> Bool = { false }) throws -> PlayerReport {
    let lanes = content.marks.map { max(1, $0.laneCount) } ?? 0
    let size = PlayerLayout.windowSize(
      PictureFit.naturalSize(
        width: content.description.width, height: content.description.height,
        aspect: content.description.sampleAspect,
        rotationDegrees: content.description.rotationDegrees),
      below: PlayerLayout.heightBelow(lanes: lanes))
    let canvas = try Canvas.window(
      Canvas.Window(
        title: "\(content.name) - retake", width: options.width ?? size.width,
        height: options.height ?? size.height))
    report.renderer = canvas.rendererName
    let screen = PlayerScreen(content: content, view: try PictureView(canvas))
    let thread = try loader.start()
    defer {
      loader.close()
      thread.join()
    }
    // Ends: somebody closes it, or what was asked for is shown.
    while !isEnding, !isInterrupted() {
      // Time begins when the first frame is there.
      if drawn != nil { state.tick(clock.monotonicNanoseconds) }
      loader.want(state.index)
      try showNext(screen)
      if isLast { break }
      hear(canvas, screen)
    }
    return report
  }

  // MARK: Frames

  /// Draws what is due, if it was read; otherwise the latest one before it.
  private func showNext(_ screen: PlayerScreen) throws {
    let due = state.index
    if due == drawn {
      if isStale { try draw(screen) }
      return
    }
    var next = loader.frame(due).map { (index: due, frame: $0) }
    if next == nil, let drawn, drawn < due { next = loader.latest(in: drawn + 1..<due) }
    guard let next else { return }
    if let drawn, next.index > drawn, !isJump { report.skipped += next.index - drawn - 1 }
    isJump = false
    try take(next.frame, at: next.index, screen)
    drawn = next.index
    if shown.complaint == nil { report.shown += 1 } else { report.withoutImage += 1 }
    try draw(screen)
  }

  private func take(_ loaded: FrameLoader.Loaded, at index: Int, _ screen: PlayerScreen) throws {
    (shown.index, shown.complaint) = (index, nil)
    switch loaded {
    case .success(let frame): try screen.view.show(frame, in: screen.layout.picture)
    case .failure(let error):
      let cause = content.entries[index].damage ?? (error as? any CodedError)?.code ?? "\(error)"
      screen.view.hide()
      shown.complaint = "frame \(content.entries[index].id.sequence) has no pixels: \(cause)"
    }
  }

  /// All that was asked for is on the screen: that many frames, or fewer where the track ends.
  private var isLast: Bool {
    guard let framesMax = options.framesMax else { return false }
    return report.shown + report.withoutImage >= framesMax || drawn == content.entries.count - 1
  }

  private func draw(_ screen: PlayerScreen) throws {
    try screen.draw(shown, state)
    if isLast, let path = options.screenshot { try Screenshot.write(screen.view.canvas, to: path) }
    screen.view.canvas.present()
    isStale = false
  }

  // MARK: Keys

  /// Waits for what somebody does, until the next frame is due.
  private func hear(_ canvas: Canvas, _ screen: PlayerScreen) {
    var wait = state.isPaused ? Self.restMilliseconds : Self.waitMillisecondsMax
    if let due = state.nextDue {
      wait = max(0, min(wait, (due - clock.monotonicNanoseconds) / 1_000_000))
    }
    if drawn != state.index { wait = min(wait, 1) }
    // Ends: nobody does anything more.
    while let event = canvas.nextEvent(waitMilliseconds: Int(wait)) {
      apply(event, canvas, screen.layout)
      wait = 0
    }
  }

  private func apply(_ event: WindowEvent, _ canvas: Canvas, _ layout: PlayerLayout) {
    if case .pointer = event, !isScrubbing { return }
    isStale = true
    switch event {
    case .close, .key(.escape), .key(.letter("q")): isEnding = true
    case .exposed: break
    case .key(.letter("o")): shown.showsResults.toggle()
    case .key(.letter("h")): shown.showsKeys.toggle()
    case .key(.letter("f")):
      isFull.toggle()
      canvas.setFullscreen(isFull)
    case .key(let key): PlayerKeys.command(key).map { go($0) }
    case .press(let x, let y):
      let place = canvas.pixel(x: x, y: y)
      isScrubbing = layout.scrub.contains(x: place.x, y: place.y)
      if isScrubbing { go(.scrub(layout.scrubFraction(x: place.x))) }
    case .pointer(let x, let y, let isDown):
      guard isDown else { return }
      go(.scrub(layout.scrubFraction(x: canvas.pixel(x: x, y: y).x)))
    case .release: isScrubbing = false
    }
  }

  private func go(_ command: PlayerState.Command) {
    state.apply(command)
    isJump = true
  }
}

/// A picture of a window.
enum Screenshot {
  /// - Throws: `PreviewError.renderer`, `.notWritten`, `MediaError`.
  static func write(_ canvas: Canvas, to path: String) throws {
    var picture = try canvas.picture()
    picture = try MediaScaler().scale(picture, format: .rgb)
    let bytes = try MediaImage.png(picture)
    do {
      try Data(bytes).write(to: URL(fileURLWithPath: path))
    } catch {
      throw PreviewError.notWritten(path: path, cause: error.systemText)
    }
  }
}
