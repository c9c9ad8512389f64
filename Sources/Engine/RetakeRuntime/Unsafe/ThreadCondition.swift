import Foundation

/// Wakes the thread that waits for it; only one thread may wait. Signals before the wait count, but
/// only once.
///
/// Waits with a deadline use the monotonic clock. Dispatch's semaphores use the date on Linux,
/// where setting the date back by an hour would make a wait an hour longer.
public final class ThreadCondition: Sendable {
  // SAFETY: both have a fixed address from init to deinit. A thread that signals or waits holds
  // this object, so no thread uses them when they are freed. The mutex guards `isRung`.
  private nonisolated(unsafe) let condition: UnsafeMutablePointer<pthread_cond_t>
  private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private nonisolated(unsafe) var isRung = false

  /// A condition without a signal.
  public init() {
    condition = .allocate(capacity: 1)
    mutex = .allocate(capacity: 1)
    condition.initialize(to: pthread_cond_t())
    mutex.initialize(to: pthread_mutex_t())
    pthread_mutex_init(mutex, nil)
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    #if !canImport(Darwin)
      pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    #endif
    pthread_cond_init(condition, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  /// Any thread may call this.
  public func signal() {
    pthread_mutex_lock(mutex)
    isRung = true
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(condition)
  }

  /// Returns when the condition has been signaled since the last wait. Only one thread may wait.
  public func wait() {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    // Ends: another thread signals.
    while !isRung { pthread_cond_wait(condition, mutex) }
    isRung = false
  }

  /// Waits for a signal, but at most until the deadline; both times are on the monotonic clock.
  func wait(untilNanoseconds deadline: Int64, nowNanoseconds now: Int64) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var time = Self.time(deadline: deadline, now: now)
    // Ends: another thread signals, or the deadline has passed.
    while !isRung {
      guard Self.wait(condition, mutex, &time) == 0 else { return }
    }
    isRung = false
  }

  private static func wait(
    _ condition: UnsafeMutablePointer<pthread_cond_t>,
    _ mutex: UnsafeMutablePointer<pthread_mutex_t>,
    _ time: inout timespec
  ) -> Int32 {
    #if canImport(Darwin)
      pthread_cond_timedwait_relative_np(condition, mutex, &time)
    #else
      pthread_cond_timedwait(condition, mutex, &time)
    #endif
  }

  /// In the form that the system call expects: relative on Darwin, absolute elsewhere.
  private static func time(deadline: Int64, now: Int64) -> timespec {
    #if canImport(Darwin)
      let nanoseconds = deadline > now ? deadline - now : 0
    #else
      let nanoseconds = max(0, deadline)
    #endif
    return timespec(
      tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
  }
}
