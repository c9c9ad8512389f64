import Foundation

/// A thread of our own, which can be waited for.
///
/// Foundation's says nothing when the system has none to give, and whoever waits for its end waits
/// for ever.
package final class NamedThread: Sendable {
  private let done: Bell

  /// Bytes, as much as a main thread usually has: stages may be anybody's code.
  private static let stackBytes = 8 << 20

  /// What the thread takes over.
  private final class Start {
    let name: String
    let body: @Sendable () -> Void

    init(name: String, body: @escaping @Sendable () -> Void) {
      (self.name, self.body) = (name, body)
    }
  }

  /// Runs `body` on a new thread. The name is for debuggers; not every system shows it.
  ///
  /// - Throws: `RuntimeError.noThread`; `body` is never called then.
  package init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(RuntimeError) {
    let done = Bell()
    self.done = done
    let start = Start(name: name) {
      body()
      done.ring()
    }
    let number = Self.start(start)
    guard number == 0 else { throw .noThread(name: name, cause: String(cString: strerror(number))) }
  }

  /// Returns 0 or the system's error number.
  private static func start(_ start: Start) -> Int32 {
    var attributes = pthread_attr_t()
    var number = pthread_attr_init(&attributes)
    guard number == 0 else { return number }
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackBytes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // SAFETY: retained once here, and released once: by the thread, or below where there is none.
    let retained = Unmanaged.passRetained(start)
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    number = pthread_create(&thread, &attributes, entry, retained.toOpaque())
    if number != 0 { retained.release() }
    return number
  }

  #if canImport(Darwin)
    private static let entry: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? =
      {
        NamedThread.run($0)
        return nil
      }
  #else
    private static let entry:
      @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
        {
          if let start = $0 { NamedThread.run(start) }
          return nil
        }
  #endif

  private static func run(_ pointer: UnsafeMutableRawPointer) {
    // SAFETY: `start` made the pointer of a `Start` and left the reference to this thread.
    let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
    Thread.current.name = start.name
    start.body()
  }

  /// Returns when the body has. One thread waits, once.
  package func join() {
    done.wait()
  }

  /// Waits for its end, but not longer than this.
  package func join(nanosecondsMax: Int64, clock: any LiveClock) {
    clock.wait(untilNanoseconds: clock.monotonicNanoseconds + nanosecondsMax, or: done)
  }
}
