import CRetake
import Retake

/// Frames whose pixels belong to the caller until they are released.
final class BorrowedFrames: Sendable {
  // SAFETY: no pointer is read here. The caller's function and context are only passed on, once.
  private let count = Locked(0)
  private let returned = ThreadCondition()

  func began() { count.withLock { $0 += 1 } }

  func ended() {
    let isLast = count.withLock { count in
      count -= 1
      return count == 0
    }
    if isLast { returned.signal() }
  }

  /// Waits until all frames are released. One thread calls it.
  ///
  /// - Returns: How many are not.
  func waitForEnd(nanosecondsMax: Int64) -> Int {
    let clock = WallClock()
    let deadline = clock.monotonicNanoseconds + nanosecondsMax
    // Ends: all are released, or the deadline has passed. The condition also rings for earlier
    // frames.
    while true {
      let left = count.withLock { $0 }
      if left == 0 || clock.monotonicNanoseconds >= deadline { return left }
      clock.wait(untilNanoseconds: deadline, or: returned)
    }
  }
}

/// One frame of the caller. `release` is called once, unless the loan is cancelled before.
final class Loan: @unchecked Sendable {
  // SAFETY: @unchecked because of the caller's context, which is only passed on. `isOpen` is read
  // and written under its lock, so that `release` is called at most once.
  private let loans: BorrowedFrames
  private let release: retake_release
  private let context: UnsafeMutableRawPointer?
  private let isOpen = Locked(true)

  init(
    _ loans: BorrowedFrames, release: @escaping retake_release, context: UnsafeMutableRawPointer?
  ) {
    self.loans = loans
    self.release = release
    self.context = context
    loans.began()
  }

  /// The pixels are no longer used.
  func end() {
    guard close() else { return }
    ThreadState.calling(.release) { release(context) }
    // After the call: `destroy` has to wait for it.
    loans.ended()
  }

  /// The frame was not taken, so the caller keeps the pixels.
  func cancel() {
    if close() { loans.ended() }
  }

  private func close() -> Bool {
    isOpen.withLock { isOpen in
      defer { isOpen = false }
      return isOpen
    }
  }
}
