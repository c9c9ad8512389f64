import RetakeBuffers

/// How far cases are that run at once: their frames together, told from any thread.
final class SuiteProgress: Sendable {
  private struct State: Sendable {
    /// By case; `nil` for one that has not begun.
    var frames: [(done: Int, total: Int)?]
    var ended = 0
    var toldStep = -1
  }

  /// Told at most so often, so that a short frame costs nothing for it.
  private static let stepCount = 200

  private let state: Locked<State>
  // SAFETY: called inside the lock of `state` only, and not after the run that made this.
  nonisolated(unsafe) private let tell: (String, Int, Int) -> Void

  init(cases count: Int, tell: @escaping (String, Int, Int) -> Void) {
    state = Locked(State(frames: Array(repeating: nil, count: count)))
    self.tell = tell
  }

  func update(_ index: Int, done: Int, total: Int) {
    state.withLock { state in
      state.frames[index] = (done, total)
      report(&state)
    }
  }

  /// A case that ended early has no more frames to come.
  func end(_ index: Int) {
    state.withLock { state in
      if let done = state.frames[index]?.done { state.frames[index]?.total = done }
      state.ended += 1
      state.toldStep = -1
      report(&state)
    }
  }

  private func report(_ state: inout State) {
    let begun = state.frames.compactMap(\.self)
    guard !begun.isEmpty else { return }
    let done = begun.reduce(0) { $0 + $1.done }
    // Those that have not begun count as long as the others.
    let total = begun.reduce(0) { $0 + $1.total } * state.frames.count / begun.count
    let step = total > 0 ? min(done, total) * Self.stepCount / total : 0
    guard step != state.toldStep else { return }
    state.toldStep = step
    tell("\(state.ended) of \(state.frames.count) cases", min(done, total), total)
  }
}
