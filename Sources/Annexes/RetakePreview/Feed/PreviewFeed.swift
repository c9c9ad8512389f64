public import RetakeBuffers
public import RetakeCore
public import RetakeGraph
public import RetakeRuntime

/// Passes frames and results from any thread to the thread that draws a live preview. The camera
/// never waits for the window, and the window never waits for the pipeline.
///
/// ```swift
/// camera.onFrame { feed.offer($0) }         // returns at once
/// detector.onResult { feed.show($0) }       // from any thread, in any order
///
/// while !feed.isClosed {                    // the thread that draws
///   guard let picture = feed.take() else {
///     feed.arrived.wait()                   // for a frame, or for `close`
///     continue
///   }
///   draw(picture.frame, picture.result)
///   feed.presented(picture)
/// }
/// ```
///
/// `LivePreview` is such a loop, with a window.
public final class PreviewFeed: Sendable {
  /// A frame to be drawn, and the newest result at the time when it was taken.
  public struct Image: Sendable {
    /// By reference. `presented` releases it.
    public var frame: Frame
    /// Usually of an earlier frame than this one; `nil` before the first result.
    public var result: PreviewResult?
    /// A time of the feed's clock.
    let offeredNanoseconds: Int64
    let begunNanoseconds: Int64
    /// The number of frames that were taken before.
    let ordinal: Int

    /// How much older the frame of the result is; negative if the result is for a later frame.
    public var resultAgeNanoseconds: Int64? {
      result.map { frame.timestamp.nanoseconds - $0.timestamp.nanoseconds }
    }
  }

  private struct Waiting: Sendable {
    var frame: Frame
    var offered: Int64
  }

  private struct State: Sendable {
    var machine: FeedStateMachine
    var waiting: [Waiting] = []
    var drawing: Int?
    var taken = 0
    var result: PreviewResult?
    var book = FigureState()
    var isClosed = false
    var alarm: DropAlarmStateMachine

    /// A drop alarm, with the state of the device and of the vision pipeline.
    func alarm(_ change: DropAlarmStateMachine.Change, at frame: Frame) -> DropAlarm {
      DropAlarm(
        hasEnded: change.hasEnded, atNanoseconds: change.atNanoseconds,
        spanNanoseconds: change.spanNanoseconds, offered: change.counts.offered,
        dropped: change.counts.dropped, thermal: machine.device.thermal,
        memory: machine.device.memory, results: change.counts.results,
        resultAgeNanoseconds: result.map {
          frame.timestamp.nanoseconds - $0.timestamp.nanoseconds
        })
    }
  }

  /// Shows all frames while the device is cool, and 30 per second from `serious` heat on.
  public static let defaultPolicy = DevicePolicy(
    fps: 0, rules: [DeviceRule(thermal: .serious, fps: 30)])

  private let clock: any LiveClock
  private let state: Locked<State>
  private let onAlarm: (@Sendable (DropAlarm) -> Void)?
  /// Signaled when there may be a frame to draw, and by `close`.
  public let arrived = ThreadCondition()

  /// - Parameters:
  ///   - policy: How many frames per second are shown while the device is hot.
  ///   - onAlarm: Called when an alarm begins and when it ends, on the thread that offers the
  ///     frame. The thread waits for the call, so the closure has to return at once.
  public convenience init(
    policy: DevicePolicy = PreviewFeed.defaultPolicy,
    onAlarm: (@Sendable (DropAlarm) -> Void)? = nil
  ) {
    self.init(policy: policy, clock: WallClock(), onAlarm: onAlarm)
  }

  init(
    policy: DevicePolicy = PreviewFeed.defaultPolicy, alarmRule: DropAlarmRule = DropAlarmRule(),
    clock: any LiveClock, onAlarm: (@Sendable (DropAlarm) -> Void)? = nil
  ) {
    (self.clock, self.onAlarm) = (clock, onAlarm)
    state = Locked(
      State(machine: FeedStateMachine(policy), alarm: DropAlarmStateMachine(alarmRule)))
  }

  // MARK: From any thread

  /// Offers a frame by reference, without copying or waiting. A frame that is not taken is released
  /// at once.
  ///
  /// - Returns: Whether it will be shown.
  @discardableResult
  public func offer(_ frame: Frame) -> Bool {
    let now = clock.monotonicNanoseconds
    let (isTaken, alarm) = state.withLock { state -> (Bool, DropAlarm?) in
      guard !state.isClosed else { return (false, nil) }
      let verdict = state.machine.offer(at: now)
      state.book.offered(frame.id, verdict)
      guard verdict != .throttled else { return (false, nil) }
      let alarm = state.alarm.offered(isDropped: verdict == .dropped, at: now)
        .map { state.alarm($0, at: frame) }
      if alarm?.hasEnded == false { state.book.alarmed() }
      if verdict == .taken { state.waiting.append(Waiting(frame: frame, offered: now)) }
      return (verdict == .taken, alarm)
    }
    if let alarm { onAlarm?(alarm) }
    // After the lock is released, so that the thread that draws does not wait for it.
    if isTaken { arrived.signal() }
    return isTaken
  }

  /// Passes the results of a frame. The results of the newest frame are shown, in whatever order
  /// they arrive.
  public func show(_ result: PreviewResult) {
    guard result.hasFacts else { return }
    state.withLock { state in
      state.alarm.foundResult()
      if let known = state.result, known.timestamp > result.timestamp { return }
      state.result = result
    }
  }

  /// Passes an event of the device.
  public func note(_ event: DeviceEvent) {
    state.withLock { $0.machine.apply(event) }
  }

  /// Refuses further frames, and releases the waiting frames.
  public func close() {
    state.withLock { state in
      state.isClosed = true
      // They will never be presented, and are counted as abandoned instead.
      for _ in state.waiting { state.machine.done() }
      state.book.abandoned += state.waiting.count
      state.waiting = []
    }
    arrived.signal()
  }

  /// Whether `close` was called. A closed feed accepts no more frames.
  public var isClosed: Bool { state.withLock { $0.isClosed } }

  /// Only the counts, without the spreads, which need longer to compute.
  var counts: WindowFigures { state.withLock { $0.book.counted } }

  /// The counts and the spreads so far. It sorts all samples, so do not ask for it at each frame.
  public var figures: WindowFigures {
    // The spreads are sorted outside the lock, because the camera's thread locks it for each frame.
    let (book, held) = state.withLock { ($0.book.detached, $0.machine.held) }
    return book.figures(waiting: held + book.abandoned)
  }

  // MARK: From the thread that draws

  /// The oldest waiting frame; `nil` if none is waiting. It counts as being drawn until
  /// `presented`.
  public func take() -> Image? {
    let now = clock.monotonicNanoseconds
    return state.withLock { state -> Image? in
      precondition(state.drawing == nil, "one picture is drawn at a time")
      guard !state.waiting.isEmpty else { return nil }
      let next = state.waiting.removeFirst()
      state.drawing = state.taken
      defer { state.taken += 1 }
      return Image(
        frame: next.frame, result: state.result, offeredNanoseconds: next.offered,
        begunNanoseconds: now, ordinal: state.taken)
    }
  }

  /// Records the renderer of the window.
  func drawn(by renderer: WindowRenderer) {
    state.withLock { $0.book.drawn(by: renderer) }
  }

  /// Records that the picture was handed to the screen. Its frame is released before another frame
  /// is taken.
  public func presented(_ picture: consuming Image) { presented(picture, nil) }

  /// - Parameter steps: The times of the steps; `nil` if they are not known.
  func presented(_ picture: consuming Image, _ steps: DrawingSteps?) {
    let now = clock.monotonicNanoseconds
    let times = ShownTimes(picture, shownNanoseconds: now)
    let ordinal = picture.ordinal
    // Released before another frame may be taken: with a pool of three, a third frame that is held
    // would leave the camera without a buffer.
    _ = consume picture
    state.withLock { state in
      precondition(state.drawing == ordinal, "the picture that was taken is presented, once")
      state.drawing = nil
      state.machine.done()
      state.book.presented(times)
      if let steps { state.book.steps.add(steps) }
    }
  }
}

/// The times of a picture, in nanoseconds.
struct ShownTimes: Hashable, Sendable {
  var timestamp: Int64
  var offered: Int64
  var begun: Int64
  var shown: Int64
  var resultAge: Int64?

  init(_ picture: borrowing PreviewFeed.Image, shownNanoseconds: Int64) {
    timestamp = picture.frame.timestamp.nanoseconds
    (offered, begun) = (picture.offeredNanoseconds, picture.begunNanoseconds)
    (shown, resultAge) = (shownNanoseconds, picture.resultAgeNanoseconds)
  }
}

/// Counts frames, and stores the samples of the spreads.
struct FigureState: Sendable {
  private(set) var counted = WindowFigures()
  private var jitter = FigureSamples()
  private var render = FigureSamples()
  private var latency = FigureSamples()
  private var age = FigureSamples()
  private var last: ShownTimes?
  var steps = StepState()
  var abandoned = 0

  /// A copy with its own memory.
  var detached: FigureState {
    var copy = self
    copy.counted.droppedSequences = counted.droppedSequences.map { $0 }
    copy.jitter = jitter.detached
    copy.render = render.detached
    copy.latency = latency.detached
    copy.age = age.detached
    copy.steps = steps.detached
    return copy
  }

  mutating func offered(_ id: FrameID, _ verdict: FeedStateMachine.Verdict) {
    counted.offered += 1
    switch verdict {
    case .taken: break
    case .throttled: counted.throttled += 1
    case .dropped:
      counted.dropped += 1
      if counted.droppedSequences.count < WindowFigures.dropsListedMax {
        counted.droppedSequences.append(id.sequence)
      }
    }
  }

  mutating func alarmed() { counted.alarms += 1 }

  mutating func drawn(by renderer: WindowRenderer) { counted.renderer = renderer }

  mutating func presented(_ times: ShownTimes) {
    counted.shown += 1
    if let last {
      jitter.add(abs((times.shown - last.shown) - (times.timestamp - last.timestamp)))
    }
    last = times
    render.add(times.shown - times.begun)
    latency.add(times.shown - times.offered)
    if let resultAge = times.resultAge { age.add(resultAge) }
  }

  func figures(waiting: Int) -> WindowFigures {
    var figures = counted
    figures.waiting = waiting
    figures.jitter = jitter.spread
    figures.render = render.spread
    figures.latency = latency.spread
    figures.resultAge = age.spread
    figures.steps = steps.figures
    return figures
  }
}
