import CRetake
import Retake

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
