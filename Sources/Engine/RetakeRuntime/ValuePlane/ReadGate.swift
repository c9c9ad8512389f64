import DequeModule
import RetakeBuffers

/// Admits the read of a frame only if memory for its pixels is free. The gate is used if pixels are
/// released automatically: every stage that reads them is pure and computed ahead, so no stage has
/// to wait for virtual time.
///
/// A read occupies its place from before it begins until the last of these stages has finished. So
/// the number of frames in memory is bounded, however threads are scheduled. A read that finds no
/// place is parked, and is queued by the thread that frees a place.
final class ReadGate: Sendable {
  private struct State: Sendable {
    var admitted = 0
    /// Oldest first; reads that were cancelled meanwhile are skipped.
    var parked: Deque<ValueFuture> = []
  }

  private let readsMax: Int
  private let state = Locked(State())

  /// - Parameter readsMax: The largest number of frames in memory at once.
  init(readsMax: Int) {
    precondition(readsMax > 0, "one frame can always be read")
    self.readsMax = readsMax
  }

  /// Whether the future may begin now; otherwise it is parked.
  func admit(_ future: ValueFuture) -> Bool {
    guard future.opensHold, let hold = future.hold else { return true }
    return state.withLock { state in
      // After the end, another thread has read the frame, and the caller will find that out.
      if hold.place == .admitted || hold.place == .ended { return true }
      guard state.admitted < readsMax else {
        if hold.place == .outside {
          hold.place = .parked
          state.parked.append(future)
        }
        return false
      }
      hold.place = .admitted
      state.admitted += 1
      return true
    }
  }

  /// All readers of the frame are done.
  ///
  /// - Returns: The reads that may begin now.
  func end(_ hold: FrameHold) -> [ValueFuture] {
    hold.releasePixels()
    return state.withLock { state in
      if hold.place == .admitted { state.admitted -= 1 }
      hold.place = .ended
      var next: [ValueFuture] = []
      while state.admitted < readsMax, let future = state.parked.popFirst() {
        // A read that was admitted since it was parked, or that was cancelled, needs no place any
        // more.
        guard let parked = future.hold, parked.place == .parked, !future.isDone else { continue }
        parked.place = .admitted
        state.admitted += 1
        next.append(future)
      }
      return next
    }
  }
}

/// Holds a frame's pixels while pure stages read them: from the read of the frame to the last
/// stage.
final class FrameHold: @unchecked Sendable {
  // @unchecked: `place` is read and written only under the gate's lock.

  enum Place: Sendable {
    case outside
    case parked
    case admitted
    case ended
  }

  private struct State: Sendable {
    var unfinished: Int
    var frames: [LaterFrame] = []
  }

  fileprivate(set) var place = Place.outside
  private let state: Locked<State>

  /// - Parameter futures: The number of the read and the stages, each of which finishes once.
  init(futures: Int) {
    state = Locked(State(unfinished: futures))
  }

  /// One of the futures has finished.
  ///
  /// - Returns: Whether it was the last.
  func finish(_ outcome: ValueOutcome) -> Bool {
    state.withLock { state in
      if case .later(let frame) = outcome { state.frames.append(frame) }
      state.unfinished -= 1
      return state.unfinished == 0
    }
  }

  /// A stage whose output was cached has not read the frame, so the frame would wait for that read
  /// forever.
  fileprivate func releasePixels() {
    let frames = state.withLock { state in
      defer { state.frames = [] }
      return state.frames
    }
    for frame in frames { frame.releasePixels() }
  }
}
