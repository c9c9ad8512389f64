import RetakeBuffers
import Synchronization

/// The queue of the decision loop's messages. It also decides which thread runs the loop: the
/// decision thread, or a worker whose body has just ended. A thread that posts a message never
/// waits.
///
/// Waking a thread is slower than deciding. So a worker makes the decisions if no other thread has
/// them, and returns them when no message waits any more. Meanwhile the decision thread rests. It
/// is woken for events from outside, for timers, and for the end.
///
/// Frames have a bound, and frames beyond it are refused. All other messages are bounded by the
/// number of frames in flight, and by the commands that people send.
final class LiveInbox: Sendable {
  private struct State: Sendable {
    var messages: [LiveMessage] = []
    var frames = 0
    var isClosed = false
    /// A thread has the decisions, at first the decision thread. It finds every message that
    /// arrives.
    var isTaken = true
    /// The decision thread rests until this time; `nil` = it does not rest.
    var restDeadline: Int64?
    /// The decision thread wants the decisions as soon as they are given back.
    var isWanted = false

    /// Returns whether the caller has to wake the resting decision thread. Only one caller gets
    /// `true`.
    mutating func wake() -> Bool {
      guard !isTaken, restDeadline != nil else { return false }
      restDeadline = nil
      return true
    }
  }

  private let state = Mutex(State())
  private let condition = ThreadCondition()
  private let framesMax: Int

  init(framesMax: Int) {
    self.framesMax = framesMax
  }

  // MARK: Posting

  /// - Returns: `false` if the inbox is full or closed.
  func offer(_ entry: FrameEntry, _ frame: Frame?) -> Bool {
    let (isTaken, wakes) = state.withLock { state -> (Bool, Bool) in
      // Bounded: a frame beyond `framesMax` is refused, and lost before the core sees it.
      guard !state.isClosed, state.frames < framesMax else { return (false, false) }
      state.frames += 1
      state.messages.append(.frame(entry, frame))
      return (true, state.wake())
    }
    if wakes { condition.signal() }
    return isTaken
  }

  /// Whether frames are still accepted, apart from the bound.
  var isOpen: Bool { state.withLock { !$0.isClosed } }

  /// Posts a message. No thread waits for an answer.
  func post(_ message: LiveMessage) {
    let wakes = state.withLock { state -> Bool in
      state.messages.append(message)
      return state.wake()
    }
    if wakes { condition.signal() }
  }

  /// Posts a message from a thread that is ready to decide.
  ///
  /// - Returns: Whether the calling thread has the decisions now.
  func postTakingUp(_ message: LiveMessage) -> Bool {
    state.withLock { state -> Bool in
      state.messages.append(message)
      guard !state.isTaken else { return false }
      state.isTaken = true
      return true
    }
  }

  /// Posts a message from outside, if the inbox is open.
  ///
  /// - Returns: Whether the message was accepted.
  func postWhileOpen(_ message: LiveMessage) -> Bool {
    let (isTaken, wakes) = state.withLock { state -> (Bool, Bool) in
      guard !state.isClosed else { return (false, false) }
      state.messages.append(message)
      return (true, state.wake())
    }
    if wakes { condition.signal() }
    return isTaken
  }

  /// Accepts no more frames. Messages about frames in flight still arrive.
  func close() {
    let wakes = state.withLock { state -> Bool in
      state.isClosed = true
      // The decision thread checks whether it can end.
      state.isWanted = true
      return state.wake()
    }
    if wakes { condition.signal() }
  }

  // MARK: Deciding

  /// Moves all waiting messages into `messages` and reuses its memory. Returns whether no more
  /// frames come. Called by the thread that has the decisions.
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

  /// A worker returns the decisions, unless a message waits.
  ///
  /// - Parameters:
  ///   - time: Clock time at which the decision thread has to look.
  ///   - isOver: Whether the decision thread has to look at once.
  /// - Returns: Whether the decisions were given back.
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
    if wakes { condition.signal() }
    return isGiven
  }

  /// The decision thread returns the decisions and rests until a message wakes it or the clock
  /// reaches the deadline. Then it has the decisions again. It does not rest if a message waits, or
  /// if no more frames come and no deadline is set.
  ///
  /// - Parameter time: The thread also wakes at this time, for work that no one waits for.
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
        clock.wait(untilNanoseconds: next, or: condition)
      } else {
        condition.wait()
      }
      // A worker that has the decisions returns them soon, and then signals the condition.
      next = .max
    } while !takeUp()
  }

  /// Returns whether the decision thread has the decisions again. If not, it gets them next.
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

/// The result of a swap, for the caller that requested it.
final class SwapVerdict: Sendable {
  private enum State: Sendable {
    case open
    case waiting(CheckedContinuation<String?, Never>)
    case decided(String?)
  }

  private let state = Mutex(State.open)

  /// - Parameter refusal: The code of the refusal; `nil` = the swap is in force.
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
