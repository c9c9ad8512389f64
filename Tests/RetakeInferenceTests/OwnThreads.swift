import Foundation
import RetakeBuffers

/// Threads that do the same at once, whatever the number of processors is.
enum OwnThreads {
  /// - Returns: The results of the threads, in the order of their numbers.
  static func run<Value: Sendable>(
    _ count: Int, _ body: @escaping @Sendable (Int) throws -> Value
  ) throws -> [Value] {
    let results = Locked<[Int: Result<Value, any Error>]>([:])
    let ended = DispatchSemaphore(value: 0)
    for number in 0..<count {
      Thread.detachNewThread {
        let result = Result { try body(number) }
        results.withLock { $0[number] = result }
        ended.signal()
      }
    }
    for _ in 0..<count { ended.wait() }
    return try results.withLock { all in try (0..<count).compactMap { try all[$0]?.get() } }
  }
}
