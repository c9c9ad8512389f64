import RetakeBuffers
import RetakeCore
import RetakeGraph
import Synchronization

/// What comes to whoever decides, from all sides.
enum LiveMessage: Sendable {
  case frame(FrameEntry, Frame?)
  case ended(BodyName, CompletionOutcome, (any PipelineValue)?, CostSpan?)
  case released(sink: Int, FrameID)
  case device(DeviceEvent)
  case swap(StageSwap, node: Int, SwapVerdict)
  case swapReady(index: Int, refusal: String?)
  case sourceLost(track: Int, code: String)
}

/// The queue in front of whoever decides, and who that is: the decision thread, or a worker whose
/// body has just ended. Whoever puts something in waits for nobody.
///
/// To wake a thread takes longer than to decide. So a worker takes up the decisions itself where
/// nobody has them, and gives them back when nothing waits any more; the decision thread rests
/// meanwhile, and is woken for what came from outside, for timers, and for the end.
///
/// Frames have a bound, and beyond it they are refused; all else is bounded by the frames that are
/// on their way, and by people.
final class LiveInbox: Sendable {
  private struct State: Sendable {
    var messages: [LiveMessage] = []
    var frames = 0
    var isClosed = false
    /// Somebody has the decisions, at first the decision thread: it finds whatever comes.
    var isTaken = true
    /// The decision thread rests until then; `nil` = it does not rest.
    var restDeadline: Int64?
    /// It wants the decisions as soon as they are given back.
    var isWanted = false

    /// Whether the decision thread rests and shall be woken for what came, by one.
    mutating func wake() -> Bool {
      guard !isTaken, restDeadline != nil else { return false }
      restDeadline = nil
      return true
    }
  }

  private let state = Mutex(State())
  private let bell = Bell()
  private let framesMax: Int

  init(framesMax: Int) {
    self.framesMax = framesMax
  }

  // MARK: Putting in

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

  /// Something from a thread that would decide about it.
  ///
  /// - Returns: Whether it has the decisions now.
  func postTakingUp(_ message: LiveMessage) -> Bool {
    state.withLock { state -> Bool in
      state.messages.append(message)
      guard !state.isTaken else { return false }
      state.isTaken = true
      return true
    }
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
      // The decision thread looks when it may end.
      state.isWanted = true
      return state.wake()
    }
    if wakes { bell.ring() }
  }

  // MARK: Deciding

  /// All that waits, in `messages`, whose own memory is used again; and whether no more frames come.
  /// Called by whoever has the decisions.
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

  /// A worker gives the decisions back, unless something waits.
  ///
  /// - Parameters:
  ///   - time: When the decision thread has to look, on the clock.
  ///   - isOver: It has to look at once.
  /// - Returns: Whether they are given back.
  func giveBack(lookingAt time: Int64, isOver: Bool) -> Bool {
    let (isGiven, wakes) = state.withLock { state -> (Bool, Bool) in
      guard state.messages.isEmpty || isOver else { return (false, false) }
      state.isTaken = false
      guard let deadline = state.restDeadline else {
        return (true, state.isWanted)
      }
      guard state.isWanted || isOver || time < deadline else { return (true, false) }
      state.restDeadline = nil
      return (true, true)
    }
    if wakes { bell.ring() }
    return isGiven
  }

  /// The decision thread gives the decisions back and rests until something comes for it, or the
  /// clock reaches the deadline; then it has them again. Where something waits, or no more frames
  /// come and there is no deadline, it does not.
  ///
  /// - Parameter time: It also looks up then, for what nobody waits for.
  func rest(until deadline: Int64?, lookingUpAt time: Int64? = nil, clock: any LiveClock) {
    var next = min(deadline ?? .max, time ?? .max)
    let rests = state.withLock { state -> Bool in
      defer { state.isWanted = false }
      guard state.messages.isEmpty, !state.isWanted, !(state.isClosed && deadline == nil) else {
        return false
      }
      (state.isTaken, state.restDeadline) = (false, next)
      return true
    }
    guard rests else { return }
    repeat {
      if next < .max {
        clock.wait(untilNanoseconds: next, or: bell)
      } else {
        bell.wait()
      }
      // A worker that has the decisions gives them back soon, and rings.
      next = .max
    } while !takeUp()
  }

  /// Whether the decision thread has the decisions again; if not, they come to it next.
  private func takeUp() -> Bool {
    state.withLock { state -> Bool in
      state.restDeadline = nil
      state.isWanted = state.isTaken
      guard !state.isTaken else { return false }
      state.isTaken = true
      return true
    }
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
