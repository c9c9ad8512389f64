import Synchronization

/// A value protected by a lock, shared by reference.
package final class Locked<Value: Sendable>: Sendable {
  private let mutex: Mutex<Value>

  package init(_ value: Value) {
    mutex = Mutex(value)
  }

  /// Calls `body` with the value while no other thread can access it. Keep it short, and never call
  /// foreign code inside it.
  package func withLock<Result: Sendable, Failure: Error>(
    _ body: (inout Value) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try mutex.withLock { (value: inout sending Value) throws(Failure) -> Result in
      try body(&value)
    }
  }
}
