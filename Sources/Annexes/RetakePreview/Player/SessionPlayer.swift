package import Foundation
import RetakeCore
import RetakeRuntime

/// How a session is played.
package struct PlayerOptions: Sendable {
  package var speed = 1.0
  /// The first frame that is shown: its index among the track's frames.
  package var first = 0
  /// The number of frames after which the window closes, or at the track's last frame; `nil` leaves
  /// the window open until the user closes it.
  package var framesMax: Int?
  /// The path for a PNG of the window with the last frame, written before the window closes.
  package var screenshot: String?
  /// Where the PNG goes instead of to that path, which then only names it.
  package var screenshotOutput: FileHandle?
  package var showsResults = true
  package var isPaused = false
  /// The window's size in pixels; if `nil`, it is derived from the image.
  package var width: Int?
  package var height: Int?
  /// Code that changes the images' colors.
  package var grading: Grading?
  /// Called when skipped frames begin and cease to last; the alarm does not know the state of a
  /// device.
  package var onAlarm: (@Sendable (DropAlarm) -> Void)?

  package init() {}
}

/// The result of a player.
package struct PlayerReport: Hashable, Sendable, Codable {
  /// Frames whose image was shown on the screen.
  package var shown = 0
  /// Frames without an image; the window showed the reason instead.
  package var withoutImage = 0
  /// Frames that were skipped because they could not be read or shown in time.
  package var skipped = 0
  /// How often skipped frames lasted; see `DropAlarm`.
  package var alarms = 0
  /// `opengl`, `opengles2`, or SDL's name of its renderer.
  package var renderer = ""
  /// The device that computes the pixels, and whether it is the processor; see `WindowRenderer`.
  package var rendererDevice: String?
  package var isSoftware = false
  /// Why there is no OpenGL.
  package var fallbackCause: String?
  /// How long the images took.
  package var steps = StepFigures()

  package init() {}
}

/// Plays a session in a window. Use it on the main thread.
package final class SessionPlayer {
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
  /// Whether the user jumped since the last frame. Frames in between then do not count as skipped.
  private var isJump = false
  private var isScrubbing = false
  private var report = PlayerReport()
  private var steps = StepState()
  private var alarm = DropAlarmStateMachine(DropAlarmRule())
  /// Whether the image of `PlayerOptions.screenshot` was written. It is not if the window was
  /// closed before the last frame.
  package private(set) var hasScreenshot = false

  /// The longest wait for an event, which is also the longest delay before the window responds.
  private static let waitMillisecondsMax: Int64 = 8
  /// The longest wait while playback is paused. An event ends a wait.
  private static let restMilliseconds: Int64 = 100

  /// - Throws: `PreviewError.noSuchFrame`.
  package convenience init(_ content: PlayerContent, options: PlayerOptions) throws {
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
      times: content.entries.map(\.timestamp), uncertain: content.uncertain, first: options.first,
      speed: options.speed, isPaused: options.isPaused)
    shown = PlayerScreen.Shown(index: options.first, showsResults: options.showsResults)
  }

  /// Shows frames until the user closes the window or a limit of the options is reached.
  ///
  /// - Throws: `PreviewError`, `MediaError`, `RuntimeError.noThread`.
  package func run(isInterrupted: () -> Bool = { false }) throws -> PlayerReport {
    let lanes = content.marks.map { max(1, $0.laneCount) } ?? 0
    let size = PlayerLayout.windowSize(
      ImageFit.naturalSize(
        width: content.description.width, height: content.description.height,
        aspect: content.description.sampleAspect,
        rotationDegrees: content.description.rotationDegrees),
      below: PlayerLayout.heightBelow(lanes: lanes, strips: content.sensors.count))
    let canvas = try Canvas.window(
      Canvas.Window(
        title: "\(content.name) - retake", width: options.width ?? size.width,
        height: options.height ?? size.height))
    report.renderer = canvas.renderer.name
    report.rendererDevice = canvas.renderer.device
    report.isSoftware = canvas.renderer.isSoftware
    report.fallbackCause = canvas.renderer.fallbackCause
    let screen = PlayerScreen(
      content: content, view: try PreviewImageView(canvas, options.grading, clock: clock))
    let thread = try loader.start()
    defer {
      // The thread uses the reader until it has ended, so it is joined.
      loader.close()
      thread.join()
    }
    // Ends: when the user closes the window, or when the requested frames have been shown.
    while !isEnding, !isInterrupted() {
      // Time starts when the first frame has been drawn.
      if drawn != nil { state.tick(clock.monotonicNanoseconds) }
      loader.want(state.index)
      try showNext(screen)
      if isLast { break }
      hear(canvas, screen)
    }
    report.steps = steps.figures
    return report
  }

  // MARK: Frames

  /// Draws the frame that is due if it has been read, otherwise the latest one before it.
  private func showNext(_ screen: PlayerScreen) throws {
    let due = state.index
    if due == drawn {
      if isStale { try draw(screen) }
      return
    }
    var next = loader.frame(due).map { (index: due, frame: $0) }
    if next == nil, let drawn, drawn < due { next = loader.latest(in: drawn + 1..<due) }
    guard let next else { return }
    if let drawn, next.index > drawn, !isJump { count(skipped: next.index - drawn - 1) }
    isJump = false
    try take(next.frame, at: next.index, screen)
    drawn = next.index
    if shown.complaint == nil { report.shown += 1 } else { report.withoutImage += 1 }
    try draw(screen)
    if shown.complaint == nil { steps.add(screen.view.steps) }
  }

  private func count(skipped: Int) {
    report.skipped += skipped
    let now = clock.monotonicNanoseconds
    // Bounded: frames of the track.
    for number in 0...skipped {
      guard let change = alarm.offered(isDropped: number < skipped, at: now) else { continue }
      if !change.hasEnded { report.alarms += 1 }
      options.onAlarm?(
        DropAlarm(
          hasEnded: change.hasEnded, atNanoseconds: change.atNanoseconds,
          spanNanoseconds: change.spanNanoseconds, offered: change.counts.offered,
          dropped: change.counts.dropped, results: 0))
    }
  }

  private func take(_ loaded: FrameLoader.Loaded, at index: Int, _ screen: PlayerScreen) throws {
    (shown.index, shown.complaint) = (index, nil)
    switch loaded {
    case .success(let frame): try screen.view.show(frame, in: screen.layout.picture)
    case .failure(let error):
      let cause =
        content.entries[index].damage ?? (error as? any CodedError)?.code ?? error.causeText
      screen.view.hide()
      shown.complaint = "frame \(content.entries[index].id.sequence) has no pixels: \(cause)"
    }
  }

  /// Whether all requested frames have been shown: the given number, or fewer at the end of the
  /// track.
  private var isLast: Bool {
    guard let framesMax = options.framesMax else { return false }
    return report.shown + report.withoutImage >= framesMax || drawn == content.entries.count - 1
  }

  private func draw(_ screen: PlayerScreen) throws {
    // Before the image is presented, because afterwards the content of the renderer is undefined.
    if isLast, let path = options.screenshot {
      try screen.draw(shown, state)
      try Screenshot.write(screen.view.canvas, to: path, options.screenshotOutput)
      hasScreenshot = true
    }
    try screen.view.present { try screen.draw(shown, state) }
    isStale = false
  }

  // MARK: Keys

  /// Waits for user input until the next frame is due.
  private func hear(_ canvas: Canvas, _ screen: PlayerScreen) {
    var wait = state.isPaused ? Self.restMilliseconds : Self.waitMillisecondsMax
    if let due = state.nextDue {
      wait = max(0, min(wait, (due - clock.monotonicNanoseconds) / 1_000_000))
    }
    // SDL has no event for a frame that has been read, so it is polled for.
    if drawn != state.index { wait = min(wait, 1) }
    // Ends: when no events are left.
    while let event = canvas.nextEvent(waitMilliseconds: Int(wait)) {
      apply(event, canvas, screen.layout)
      wait = 0
    }
  }

  private func apply(_ event: WindowEvent, _ canvas: Canvas, _ layout: PlayerLayout) {
    // The pointer moves often and is not on the screen, so there is no reason to draw again.
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
