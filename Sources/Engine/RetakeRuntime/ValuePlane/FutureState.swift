/// The state of a future, in one word: everything that several threads race for. Each change is one
/// atomic step from the word that was read, so a second thread sees the change of the first.
package struct FutureState: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case waiting
    /// A thread claimed it. Only that thread computes and finishes it.
    case running
    case done
  }

  /// The largest number of inputs of one future.
  package static let inputsMax = 1 << 20

  private static let runningBit: UInt32 = 1 << 0
  private static let doneBit: UInt32 = 1 << 1
  private static let neededBit: UInt32 = 1 << 2
  private static let cancelledBit: UInt32 = 1 << 3
  private static let queuedBit: UInt32 = 1 << 4
  private static let awaitedBit: UInt32 = 1 << 5
  private static let oneMissing: UInt32 = 1 << 8

  package let word: UInt32

  init(word: UInt32) {
    self.word = word
  }

  /// - Parameter missing: The number of inputs that are missing before the future can run.
  package init(missing: Int, isNeeded: Bool) {
    precondition((0...Self.inputsMax + 1).contains(missing), "a future has at most 2^20 inputs")
    word = UInt32(missing) * Self.oneMissing | (isNeeded ? Self.neededBit : 0)
  }

  package var status: Status {
    if word & Self.doneBit != 0 { return .done }
    return word & Self.runningBit != 0 ? .running : .waiting
  }

  package var isDone: Bool { word & Self.doneBit != 0 }
  package var missing: Int { Int(word / Self.oneMissing) }
  package var isNeeded: Bool { word & Self.neededBit != 0 }
  /// Cancelled before it began: the thread that claims it does not compute it.
  package var isCancelled: Bool { word & Self.cancelledBit != 0 }
  /// It is or was in a queue.
  package var isQueued: Bool { word & Self.queuedBit != 0 }
  /// The time plane has to be notified when it is done.
  package var isAwaited: Bool { word & Self.awaitedBit != 0 }
  package var isRunnable: Bool { status == .waiting && missing == 0 }

  // MARK: Changes

  /// The claimed state; `nil` unless the future can run and no thread has claimed it.
  package var claimed: FutureState? { isRunnable ? adding(Self.runningBit) : nil }

  /// The computed state; `nil` unless the future is running.
  package var finished: FutureState? { status == .running ? adding(Self.doneBit) : nil }

  /// The state with the given number of inputs fewer missing.
  package func resolving(_ count: Int) -> FutureState {
    precondition(status == .waiting && missing >= count, "an input is resolved once")
    return FutureState(word: word - UInt32(count) * Self.oneMissing)
  }

  /// The queued state; `nil` if a thread has already claimed the future.
  package var queued: FutureState? { status == .waiting ? adding(Self.queuedBit) : nil }

  /// The cancelled state: claimed if the future could run, otherwise only marked; `nil` if it has
  /// already begun.
  package var cancelled: FutureState? {
    guard status == .waiting else { return nil }
    return adding(missing == 0 ? Self.runningBit | Self.cancelledBit : Self.cancelledBit)
  }

  package var needed: FutureState { adding(Self.neededBit) }

  /// The state awaited by the time plane; `nil` if the future is done and no notification will
  /// follow.
  package var awaited: FutureState? { isDone ? nil : adding(Self.awaitedBit) }

  private func adding(_ bits: UInt32) -> FutureState { FutureState(word: word | bits) }
}
