import Foundation

/// Measures work by the thread's own time: other work on the machine does not count.
enum CPUTime {
  #if DEBUG
    static let secondsMax = 3.0
  #else
    static let secondsMax = 0.1
  #endif

  static func seconds<Result>(_ body: () throws -> Result) rethrows -> (Result, Double) {
    let start = now()
    let result = try body()
    return (result, now() - start)
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
