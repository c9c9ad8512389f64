import RetakeGraph

/// The earlier calls that a stage's output depends on, in addition to its input.
enum StageMemory: Hashable, Sendable {
  case none
  /// The given number of calls that returned a value last.
  case calls(Int)
  /// Every earlier call of the run.
  case allCalls

  init(of stage: AnyStage) {
    guard case .stateful = stage.body else {
      self = .none
      return
    }
    self = stage.callsRemembered.map { .calls($0) } ?? .allCalls
  }
}

/// The stages whose memory differs from that of the live run, because a call could not be made
/// again: the frame has no pixels. The output of such a stage cannot be compared with the live run.
struct MemoryGaps {
  /// A swap replaces a node's stage, and the new stage begins without a memory.
  struct Stage: Hashable {
    var node: Int
    var version: Int
    var memory: StageMemory
  }

  /// The number of calls after which the memory equals the live run's again. A memory of all calls
  /// never does.
  private var callsMissing: [Stage: Int] = [:]

  /// A call of the live run is not made again.
  mutating func skipped(_ stage: Stage) {
    switch stage.memory {
    case .none: break
    case .calls(let count): callsMissing[stage] = count > 0 ? count : nil
    case .allCalls: callsMissing[stage] = .max
    }
  }

  /// Whether the stage remembers the same calls as in the live run.
  func isWhole(_ stage: Stage) -> Bool { callsMissing[stage] == nil }

  /// Whether it will, after some calls.
  func canBeWhole(_ stage: Stage) -> Bool { isWhole(stage) || stage.memory != .allCalls }

  /// A call was made again, and returned a value.
  mutating func returned(_ stage: Stage) {
    guard let count = callsMissing[stage], stage.memory != .allCalls else { return }
    callsMissing[stage] = count > 1 ? count - 1 : nil
  }
}
