import RetakeGraph
import RetakeRuntime
import Synchronization

/// A body that blocks until a test releases it.
final class Gate: Sendable {
  private let entered = ThreadCondition()
  private let opened = Mutex(false)
  private let condition = ThreadCondition()

  func waitUntilEntered() { entered.wait() }

  func open() {
    opened.withLock { $0 = true }
    condition.signal()
  }

  func pass() {
    entered.signal()
    if opened.withLock({ $0 }) { return }
    condition.wait()
  }

  var stage: AnyStage {
    AnyStage(
      signature: StageSignature(
        kind: "gate", version: 1, role: .pure, input: .frame, output: .frame),
      options: .object([:]),
      body: .pure { input, _ in
        self.pass()
        return .success(input)
      })
  }

  var sink: AnyStage {
    AnyStage(
      signature: StageSignature(kind: "results", version: 1, role: .sink, input: nil, output: nil),
      options: .object([:]), body: .sink { _ in self.pass() })
  }
}

/// A clock that a test moves, and that advances by a nanosecond with each reading.
final class LiveTestClock: LiveClock {
  private struct State: Sendable {
    var now: Int64 = 1_000
    var conditions: [ThreadCondition] = []
  }

  private let state = Mutex(State())

  var monotonicNanoseconds: Int64 {
    state.withLock {
      $0.now += 1
      return $0.now
    }
  }

  func anchor() -> WallAnchor {
    WallAnchor(
      monotonicNanoseconds: monotonicNanoseconds, unixNanoseconds: 0, bootNanoseconds: 0,
      uncertaintyNanoseconds: 0)
  }

  func move(milliseconds: Int64) {
    let conditions = state.withLock { state -> [ThreadCondition] in
      state.now += milliseconds * 1_000_000
      defer { state.conditions = [] }
      return state.conditions
    }
    for condition in conditions { condition.signal() }
  }

  func wait(untilNanoseconds deadline: Int64, or condition: ThreadCondition) {
    let isOver = state.withLock { state -> Bool in
      guard state.now < deadline else { return true }
      state.conditions.append(condition)
      return false
    }
    if !isOver { condition.wait() }
  }
}
