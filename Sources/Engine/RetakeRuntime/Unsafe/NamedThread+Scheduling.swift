import Foundation

extension NamedThread {
  /// Calls `body` on this thread. Meanwhile, waking this thread does not preempt another one: the
  /// thread that wakes it continues first.
  ///
  /// Used for work that is started by a call that must not wait, such as an app's `push`. Without
  /// this, the woken thread often gets the processor of the thread that wakes it, and everything
  /// that it wakes in turn runs before the call returns (about 2 ms at 1080p on two processors). On
  /// Linux this sets SCHED_BATCH, see sched(7). On other systems it has no effect.
  package static func yieldingToWakers<Result>(_ body: () throws -> Result) rethrows -> Result {
    #if canImport(Darwin)
      return try body()
    #else
      // SAFETY: both calls affect this thread only, and write to variables of the right size.
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

  /// From now on, this thread, and threads and programs that it starts, leave the processor to
  /// others by that much more (nice(2)). Linux has one number for each thread; on other systems
  /// this has no effect.
  package static func yieldProcessor(niceness: Int) {
    #if !canImport(Darwin)
      // SAFETY: 0 is the calling thread. A refusal affects the speed only.
      let thread = __priority_which_t(PRIO_PROCESS.rawValue)
      _ = setpriority(thread, 0, getpriority(thread, 0) + Int32(clamping: niceness))
    #endif
  }

  /// From now on, a write of this thread to a pipe or socket without a reader fails with EPIPE,
  /// instead of raising a signal that ends the process.
  package static func blockPipeSignal() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    // SAFETY: the set lives until the call returns. The call affects this thread only.
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  /// SCHED_BATCH of Linux's <sched.h>, which Foundation does not export.
  private static let batch: Int32 = 3
}
