import RetakeBuffers
import RetakeCore
import RetakeGraph
import Synchronization

/// What comes to the decision thread from all sides.
enum LiveMessage: Sendable {
  case frame(FrameEntry, Frame?)
  case ended(BodyName, CompletionOutcome, (any PipelineValue)?, CostSpan?)
  case released(sink: Int, FrameID)
  case device(DeviceEvent)
  case swap(StageSwap, node: Int, SwapVerdict)
  case swapReady(index: Int, refusal: String?)
  case sourceLost(track: Int, code: String)
}

/// The queue in front of the decision thread. Whoever puts something in waits for nobody.
///
/// Frames have a bound, and beyond it they are refused; all else is bounded by the frames that are
/// on their way, and by people.
final class LiveInbox: Sendable {
  private struct State: Sendable {
    var messages: [LiveMessage] = []
    var frames = 0
    var isClosed = false
    var isResting = false

    /// Whether the decision thread rests and shall be woken, by one.
    mutating func wake() -> Bool {
      defer { isResting = false }
      return isResting
    }
  }

  private let state = Mutex(State())
  private let bell = Bell()
  private let framesMax: Int

  init(framesMax: Int) {
    self.framesMax = framesMax
  }

  /// - Returns: Whether there was room, and somebody is there to take it.
  func offer(_ entry: FrameEntry, _ frame: Frame?) -> Bool {
    let (isTaken, wakes) = state.withLock { state -> (Bool, Bool) in
      guard !state.isClosed, state.frames < framesMax else { return (false, false) }
      state.frames += 1
      state.messages.append(.frame(entry, frame))
      return (true, state.wake())
    }
    if wakes { bell.ring() }
    return isTaken
  }

  /// Something that nobody waits for.
  func post(_ message: LiveMessage) {
    let wakes = state.withLock { state -> Bool in
      state.messages.append(message)
      return state.wake()
    }
    if wakes { bell.ring() }
  }

  /// Something from outside, while anybody is there to take it.
  ///
  /// - Returns: Whether it is taken.
  func postWhileOpen(_ message: LiveMessage) -> Bool {
    let (isTaken, wakes) = state.withLock { state -> (Bool, Bool) in
      guard !state.isClosed else { return (false, false) }
      state.messages.append(message)
      return (true, state.wake())
    }
    if wakes { bell.ring() }
    return isTaken
  }

  /// No more frames; what is on its way still comes.
  func close() {
    let wakes = state.withLock { state -> Bool in
      state.isClosed = true
      return state.wake()
    }
    if wakes { bell.ring() }
  }

  /// All that waits, in `messages`, whose own memory is used again; and whether no more frames come.
  func takeAll(into messages: inout [LiveMessage]) -> Bool {
    messages.removeAll(keepingCapacity: true)
    var taken = messages
    messages = []
    let isClosed = state.withLock { state -> Bool in
      swap(&state.messages, &taken)
      state.frames = 0
      return state.isClosed
    }
    messages = taken
    return isClosed
  }

  /// Rests until something comes, or the clock reaches the deadline. Where no more frames come and
  /// there is none, it does not.
  ///
  /// - Parameter time: It also looks up then, for what nobody waits for.
  func rest(until deadline: Int64?, lookingUpAt time: Int64? = nil, clock: any LiveClock) {
    let rests = state.withLock { state -> Bool in
      guard state.messages.isEmpty, !(state.isClosed && deadline == nil) else { return false }
      state.isResting = true
      return true
    }
    guard rests else { return }
    if let next = [deadline, time].compactMap(\.self).min() {
      clock.wait(untilNanoseconds: next, or: bell)
    } else {
      bell.wait()
    }
    state.withLock { $0.isResting = false }
  }
}

/// What became of a swap, for whoever asked for it.
final class SwapVerdict: Sendable {
  private enum State: Sendable {
    case open
    case waiting(CheckedContinuation<String?, Never>)
    case decided(String?)
  }

  private let state = Mutex(State.open)

  /// - Parameter refusal: The code with which it is refused; `nil` = it is in force.
  func decide(_ refusal: String?) {
    let waiting = state.withLock { state -> CheckedContinuation<String?, Never>? in
      if case .decided = state { return nil }
      defer { state = .decided(refusal) }
      guard case .waiting(let continuation) = state else { return nil }
      return continuation
    }
    waiting?.resume(returning: refusal)
  }

  func refusal() async -> String? {
    await withCheckedContinuation { continuation in
      let decided = state.withLock { state -> String?? in
        if case .decided(let refusal) = state { return .some(refusal) }
        state = .waiting(continuation)
        return nil
      }
      if let decided { continuation.resume(returning: decided) }
    }
  }
}
