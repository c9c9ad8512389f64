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
