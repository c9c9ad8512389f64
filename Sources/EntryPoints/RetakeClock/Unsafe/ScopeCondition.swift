#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Wakes the single thread that waits for it. A signal before the wait counts, once.
///
/// SAFETY: the mutex and the condition have a fixed address from init to deinit, and each thread
/// that uses them holds this object. The mutex guards `isRung`.
final class ScopeCondition: Sendable {
  private nonisolated(unsafe) let condition: UnsafeMutablePointer<pthread_cond_t>
  private nonisolated(unsafe) let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private nonisolated(unsafe) var isRung = false

  init() {
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

  func signal() {
    pthread_mutex_lock(mutex)
    isRung = true
    pthread_mutex_unlock(mutex)
    pthread_cond_signal(condition)
  }

  /// Returns whether the condition has rung since the last wait, after `limit` at the latest.
  func wait(atMost limit: Duration) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    var end = RealTime.deadline(in: limit)
    // Ends: another thread rings, or the limit has passed.
    while !isRung {
      #if canImport(Darwin)
        guard pthread_cond_timedwait_relative_np(condition, mutex, &end) == 0 else { return false }
      #else
        guard pthread_cond_timedwait(condition, mutex, &end) == 0 else { return false }
      #endif
    }
    isRung = false
    return true
  }
}
