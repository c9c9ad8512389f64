import RetakeBuffers
import RetakeCore

/// The progress of cases that run concurrently: the sum of their frames, updated from any thread.
final class SuiteProgress: Sendable {
  private struct State: Sendable {
    /// By case; `nil` for a case that has not begun.
    var frames: [(done: Int, total: Int)?]
    var ended = 0
    var toldStep = -1
  }

  /// The number of steps in which progress is reported, so that short frames are not slowed down by
  /// reports.
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

  /// A case that ended early has no more frames.
  func end(_ index: Int) {
    state.withLock { state in
      if let done = state.frames[index]?.done { state.frames[index]?.total = done }
      state.ended += 1
      // The number of ended cases has changed, so it is reported even if the step is the same.
      state.toldStep = -1
      report(&state)
    }
  }

  private func report(_ state: inout State) {
    let begun = state.frames.compactMap(\.self)
    guard !begun.isEmpty else { return }
    let done = begun.reduce(0) { $0 + $1.done }
    // Cases that have not begun count with the mean length of the others.
    let total = begun.reduce(0) { $0 + $1.total } * state.frames.count / begun.count
    let step = total > 0 ? min(done, total) * Self.stepCount / total : 0
    guard step != state.toldStep else { return }
    state.toldStep = step
    tell("\(state.ended) of \(counted(state.frames.count, "case"))", min(done, total), total)
  }
}
