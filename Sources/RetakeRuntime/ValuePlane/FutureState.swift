/// Where a future stands, in one word: everything that several threads race for. Each change is
/// made in one step from the word that was read, so whoever comes second sees who was first.
package struct FutureState: Hashable, Sendable {
  package enum Status: Hashable, Sendable {
    case waiting
    /// Somebody claimed it: that thread alone computes, and finishes.
    case running
    case done
  }

  /// The most inputs of one future.
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

  /// - Parameter missing: What has to be there before the future can run.
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
  /// Given up before it began: whoever claims it computes nothing.
  package var isCancelled: Bool { word & Self.cancelledBit != 0 }
  /// Lies, or lay, in a queue.
  package var isQueued: Bool { word & Self.queuedBit != 0 }
  /// The time plane wants to be told when it is done.
  package var isAwaited: Bool { word & Self.awaitedBit != 0 }
  package var isRunnable: Bool { status == .waiting && missing == 0 }

  // MARK: Changes

  /// To run it; `nil` unless it can run and nobody else claimed it.
  package var claimed: FutureState? { isRunnable ? adding(Self.runningBit) : nil }

  /// Computed; `nil` unless it runs.
  package var finished: FutureState? { status == .running ? adding(Self.doneBit) : nil }

  /// So many inputs less are missing.
  package func resolving(_ count: Int) -> FutureState {
    precondition(status == .waiting && missing >= count, "an input is resolved once")
    return FutureState(word: word - UInt32(count) * Self.oneMissing)
  }

  /// Put into a queue; `nil` when somebody claimed it before.
  package var queued: FutureState? { status == .waiting ? adding(Self.queuedBit) : nil }

  /// Given up: claimed when it could have run, else marked; `nil` when it began already.
  package var cancelled: FutureState? {
    guard status == .waiting else { return nil }
    return adding(missing == 0 ? Self.runningBit | Self.cancelledBit : Self.cancelledBit)
  }

  package var needed: FutureState { adding(Self.neededBit) }

  /// Awaited by the time plane; `nil` when it is done and nobody will tell.
  package var awaited: FutureState? { isDone ? nil : adding(Self.awaitedBit) }

  private func adding(_ bits: UInt32) -> FutureState { FutureState(word: word | bits) }
}
