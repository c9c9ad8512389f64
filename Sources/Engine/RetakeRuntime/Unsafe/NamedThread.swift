import Foundation
import RetakeBuffers

/// A thread that can be waited for. It has the task-local values of the code that starts it.
///
/// Foundation's `Thread` does not report when the system cannot create a thread, and a caller that
/// waits for its end would wait forever.
package final class NamedThread: Sendable {
  private let done: ThreadCondition

  /// Bytes; the usual size of a main thread's stack, because stages may run any code.
  private static let stackBytes = 8 << 20

  /// The name and the body of the new thread.
  private final class Start {
    let name: String
    let task: ThreadTask

    init(name: String, body: @escaping @Sendable () -> Void) {
      self.name = name
      task = ThreadTask(body)
    }
  }

  /// Runs `body` on a new thread. The name is for debuggers; not every system displays it.
  ///
  /// - Throws: `RuntimeError.noThread`; in that case `body` is never called.
  package init(_ name: String, _ body: @escaping @Sendable () -> Void) throws(RuntimeError) {
    let done = ThreadCondition()
    self.done = done
    let start = Start(name: name) {
      body()
      done.signal()
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
    // SAFETY: retained once here, and released once: by the thread, or below if there is no thread.
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
    // SAFETY: `start` created the pointer from a `Start` and passed its reference to this thread.
    let start = Unmanaged<Start>.fromOpaque(pointer).takeRetainedValue()
    Thread.current.name = start.name
    start.task.run()
  }

  /// Returns after the body has returned. One thread may call this, once.
  package func join() {
    done.wait()
  }

  /// Waits for the end of the thread, but at most for the given time.
  package func join(nanosecondsMax: Int64, clock: any LiveClock) {
    clock.wait(untilNanoseconds: clock.monotonicNanoseconds + nanosecondsMax, or: done)
  }
}

extension NamedThread {
  /// Calls `body` with each number below `count`, and returns after all calls. The caller's thread
  /// makes call 0; each other call has a separate thread. Where the system cannot create a thread,
  /// the caller's thread makes that call, too: the result is the same, only later. (libdispatch
  /// waits for a thread forever.)
  package static func concurrently(
    _ count: Int, _ name: String, _ body: @escaping @Sendable (Int) -> Void
  ) {
    guard count > 0 else { return }
    var threads: [NamedThread] = []
    var mine = [0]
    for number in 1..<max(1, count) {
      do throws(RuntimeError) {
        threads.append(try NamedThread("\(name)-\(number)") { body(number) })
      } catch {
        mine.append(number)
      }
    }
    for number in mine { body(number) }
    for thread in threads { thread.join() }
  }
}
