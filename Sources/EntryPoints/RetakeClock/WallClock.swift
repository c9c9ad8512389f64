#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Real time, for a scope's patience alone. No result of virtual time depends on it.
enum RealTime {
  /// In the form that waits of `ScopeCondition` expect: relative on Darwin, monotonic elsewhere.
  static func deadline(in limit: Duration) -> timespec {
    var end = timespec()
    #if !canImport(Darwin)
      clock_gettime(CLOCK_MONOTONIC, &end)
    #endif
    let nanoseconds = Int64(end.tv_nsec) + limit.wholeNanoseconds % 1_000_000_000
    let seconds = limit.wholeNanoseconds / 1_000_000_000 + nanoseconds / 1_000_000_000
    end.tv_sec += Int(seconds)
    end.tv_nsec = Int(nanoseconds % 1_000_000_000)
    return end
  }
}
