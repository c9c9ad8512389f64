import Foundation

/// Measures work by the thread's own CPU time, so that other work on the machine does not count.
enum CPUTime {
  #if DEBUG
    static let secondsMax = 3.0
  #else
    // Ten times the usual value: other processes also slow down this one's instructions.
    static let secondsMax = 1.0
  #endif

  static func seconds<Result>(_ body: () throws -> Result) rethrows -> (Result, Double) {
    let start = now()
    let result = try body()
    return (result, now() - start)
  }

  /// The best of a number of tries, or the first that is below the limit.
  static func bestSeconds<Result>(
    of tries: Int, _ body: () throws -> Result
  ) rethrows -> (Result, Double) {
    var best = try seconds(body)
    for _ in 1..<tries where best.1 >= secondsMax {
      let next = try seconds(body)
      if next.1 < best.1 { best = next }
    }
    return best
  }

  private static func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
