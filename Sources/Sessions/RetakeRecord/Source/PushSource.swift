public import RetakeBuffers
public import RetakeCore
import RetakeRuntime

/// Frames that an app pushes from any thread. The app controls the camera.
///
/// ```swift
/// let source = PushSource(name: "front", framesPerSecond: 30)
/// let recorder = try Recorder(source, options: RecorderOptions(name: "yard"))
/// Thread { _ = try? recorder.run() }.start()
/// camera.onFrame { frame in source.push(frame) }     // waits for nothing
/// source.finish()
/// ```
public final class PushSource: RecordingSource {
  /// One live track with the name, the time base and the rate of `init`.
  public let description: SourceDescription
  private let box: PushBox

  /// A live source with one track.
  ///
  /// - Parameters:
  ///   - name: Names the session if the options have no name.
  ///   - timeBase: Time base of the frames' `pts`, if they have one.
  ///   - framesPerSecond: The rate that the encoder is checked against, if known.
  ///   - waitingMax: Frames that may wait until the recorder removes them, at least 1. They wait
  ///     only briefly, unless the machine stalls.
  public init(
    name: String, timeBase: TimeBase = TimeBase(1, 1_000_000_000), framesPerSecond: Double? = nil,
    waitingMax: Int = 64
  ) {
    precondition(waitingMax > 0, "frames have room")
    description = SourceDescription(
      name: name, tracks: [SourceTrack(timeBase: timeBase, framesPerSecond: framesPerSecond)],
      isLive: true)
    box = PushBox(waitingMax: waitingMax)
  }

  /// Hands a frame to the recorder. It never blocks.
  ///
  /// - Parameters:
  ///   - frame: Its timestamp is its presentation time. Its pixels must not be written to any more.
  ///   - pts: In the source's time base; nil if the frame has no such time.
  ///   - Returns: false when the queue was full, or the recording has ended; `refused` counts these
  ///     frames.
  @discardableResult
  public func push(_ frame: Frame, pts: Int64? = nil) -> Bool {
    box.put(SourceFrame(frame: frame, pts: pts))
  }

  /// Waits until the queue has space for a frame, for an app that can wait.
  ///
  /// - Returns: false when the recording has ended.
  @discardableResult
  public func waitForRoom() -> Bool { box.waitForRoom() }

  /// Frames that were pushed but are not in the recording.
  public var refused: Int { box.refused }

  /// No more frames: the recording ends after the frames that were pushed.
  public func finish() { box.finish() }

  /// The stream of the pushed frames, for the recorder.
  public func open() -> any FrameStream { PushStream(box) }
}

/// A buffer between the app and the recorder.
private final class PushBox: Sendable {
  private struct State: Sendable {
    var frames: [SourceFrame] = []
    var refused = 0
    /// The refused frames that were reported to the recorder.
    var told = 0
    /// Whether a frame was taken: refused frames are reported only after that.
    var hasBegun = false
    var isFinished = false
    var isClosed = false
  }

  enum Taken: Sendable {
    case frame(SourceFrame)
    case refused(Int)
    case nothing
    case end
  }

  private let waitingMax: Int
  private let state = Locked(State())
  let arrived = ThreadCondition()
  private let relieved = ThreadCondition()

  init(waitingMax: Int) {
    self.waitingMax = waitingMax
  }

  func put(_ frame: SourceFrame) -> Bool {
    let isTaken = state.withLock { state -> Bool in
      guard !state.isClosed, !state.isFinished, state.frames.count < waitingMax else {
        state.refused += 1
        return false
      }
      state.frames.append(frame)
      return true
    }
    if isTaken { arrived.signal() }
    return isTaken
  }

  func waitForRoom() -> Bool {
    // Ends: the recorder removes frames or closes the box, and rings each time.
    while true {
      let hasRoom: Bool? = state.withLock { state in
        if state.isClosed || state.isFinished { return false }
        return state.frames.count < waitingMax ? true : nil
      }
      if let hasRoom { return hasRoom }
      relieved.wait()
    }
  }

  func take() -> Taken {
    let taken = state.withLock { state -> Taken in
      if state.hasBegun, state.refused > state.told {
        defer { state.told = state.refused }
        return .refused(state.refused - state.told)
      }
      guard !state.frames.isEmpty else { return state.isFinished ? .end : .nothing }
      state.hasBegun = true
      return .frame(state.frames.removeFirst())
    }
    if case .frame = taken { relieved.signal() }
    return taken
  }

  /// Puts frames back at the front, in their order.
  func putBack(_ frames: [SourceFrame]) {
    state.withLock { state in
      state.frames.insert(contentsOf: frames, at: 0)
      state.hasBegun = false
    }
  }

  var refused: Int { state.withLock { $0.refused } }

  func finish() {
    state.withLock { $0.isFinished = true }
    arrived.signal()
    relieved.signal()
  }

  func close() {
    state.withLock { state in
      state.isClosed = true
      // They were accepted, but no row will have them, and the app's count must say so.
      state.refused += state.frames.count
      state.frames = []
    }
    relieved.signal()
  }
}

private final class PushStream: FrameStream {
  private let box: PushBox
  private let clock = WallClock()
  /// The first frames, which the encoder may be measured with. An app's frames are not discarded.
  private var first: [SourceFrame] = []
  private var keepsFirst = true

  /// Maximum time that `item()` blocks, so that the recorder can check whether it should end.
  private static let idleNanosecondsMax: Int64 = 200_000_000

  init(_ box: PushBox) {
    self.box = box
  }

  func next() -> SourceFrame? {
    // Ends: the app pushes a frame, or finishes.
    while true {
      switch item() {
      case .frame(let frame): return frame
      case .end: return nil
      case .note, .nothing, .missed: continue
      }
    }
  }

  func item() -> SourceItem {
    let end = clock.monotonicNanoseconds + Self.idleNanosecondsMax
    // Ends: there is an item, or the time limit is reached.
    while true {
      switch box.take() {
      case .frame(let frame):
        if keepsFirst { keep(frame) }
        return .frame(frame)
      case .refused(let count):
        return .note(
          kind: "source.refused", json: .object(["frames": .integer(Int64(count))]))
      case .end: return .end
      case .nothing:
        guard clock.monotonicNanoseconds < end else { return .nothing }
        clock.wait(untilNanoseconds: end, or: box.arrived)
      }
    }
  }

  private func keep(_ frame: SourceFrame) {
    first.append(frame)
    // More frames than the probe needs: there is no measurement, so no frame will be put back.
    if first.count > EncoderProbe.sampleFrames { (first, keepsFirst) = ([], false) }
  }

  func discardWaiting() {
    box.putBack(first)
    (first, keepsFirst) = ([], false)
  }

  func close() { box.close() }
}
