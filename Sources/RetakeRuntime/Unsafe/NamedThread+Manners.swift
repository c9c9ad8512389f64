import Foundation

extension NamedThread {
  /// Calls `body` on this thread, which meanwhile takes the processor from nobody when it is woken:
  /// whoever wakes it goes on first.
  ///
  /// For work behind a call that must not wait, such as an app's `push`: without this the woken thread
  /// often gets the processor of the one that wakes it, and all that it wakes in turn runs before the
  /// call returns (about 2 ms at 1080p on two processors). Linux: SCHED_BATCH, see sched(7); elsewhere
  /// nothing changes.
  package static func yieldingToWakers<Result>(_ body: () throws -> Result) rethrows -> Result {
    #if canImport(Darwin)
      return try body()
    #else
      // SAFETY: both calls are about this thread alone, and write what they are given room for.
      let thread = pthread_self()
      var before = sched_param()
      var policy: Int32 = 0
      guard pthread_getschedparam(thread, &policy, &before) == 0, policy == SCHED_OTHER else {
        return try body()
      }
      var none = sched_param()
      pthread_setschedparam(thread, batch, &none)
      defer { pthread_setschedparam(thread, policy, &before) }
      return try body()
    #endif
  }

  /// From now on, what this thread writes to a pipe or a socket without a reader is the error EPIPE,
  /// not a signal that ends the process.
  package static func blockPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    // SAFETY: the set lives until the call returns, which changes this thread alone.
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// SCHED_BATCH of Linux's <sched.h>, which Foundation does not show.
  private static let batch: Int32 = 3
}
