import Foundation
import Retake

/// Checks, before a command begins, that the process may create threads and has address space left.
///
/// libdispatch needs a thread to dispose of a connection's queue and retries every second, forever,
/// if the system refuses one. A small allocation that fails inside of Swift ends the process by a
/// signal. An error before the command begins leaves no work half done.
enum ProcessLimit {
  /// One for a queue of libdispatch and one for the command. They have to exist at the same time,
  /// in addition to the thread that handles signals.
  private static let threads = 2
  /// In bytes. An import of a small file needs this much; with 31 MB some imports ended by a
  /// signal.
  private static let addressSpace = 40 << 20

  /// - Throws: `RuntimeError.noThread` or `MediaError.noMemory`.
  static func check() throws {
    if FreeMemory.ownLimit != nil { endOnFatalSignals() }
    guard hasAddressSpace else {
      throw MediaError.noMemory(
        step: "begin: less than \(ByteText.limit(addressSpace)) of address space are left",
        file: nil)
    }
    try checkThreads()
  }

  /// Swift's runtime prints a backtrace after a fatal signal. Short of address space, two threads
  /// may fail at once, and its handler then waits for both, forever. The line that names the failed
  /// allocation is printed before the signal.
  private static func endOnFatalSignals() {
    for number in [SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP] {
      signal(number, SIG_DFL)
    }
  }

  /// `NamedThread` allocates in its thread, and glibc reserves 64 MB of address space for that,
  /// which the command may need. These threads do not allocate.
  private static func checkThreads() throws {
    var number: Int32 = 0
    // SAFETY: the mutex has a fixed address until all threads that lock it have been joined.
    let gate = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    pthread_mutex_init(gate, nil)
    pthread_mutex_lock(gate)
    var started: [pthread_t] = []
    while number == 0, started.count < threads {
      #if canImport(Darwin)
        var thread: pthread_t?
        number = pthread_create(&thread, nil, pass, gate)
        if number == 0, let thread { started.append(thread) }
      #else
        var thread = pthread_t()
        number = pthread_create(&thread, nil, pass, gate)
        if number == 0 { started.append(thread) }
      #endif
    }
    pthread_mutex_unlock(gate)
    for thread in started { pthread_join(thread, nil) }
    pthread_mutex_destroy(gate)
    gate.deallocate()
    guard number == 0 else {
      throw RuntimeError.noThread(name: "the command", cause: String(cString: strerror(number)))
    }
  }

  // SAFETY: `checkThreads` passes its mutex, which is valid until this thread has been joined.
  #if canImport(Darwin)
    private static let pass: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? =
      {
        let gate = $0.assumingMemoryBound(to: pthread_mutex_t.self)
        pthread_mutex_lock(gate)
        pthread_mutex_unlock(gate)
        return nil
      }
  #else
    private static let pass: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? =
      {
        guard let gate = $0?.assumingMemoryBound(to: pthread_mutex_t.self) else { return nil }
        pthread_mutex_lock(gate)
        pthread_mutex_unlock(gate)
        return nil
      }
  #endif

  private static var hasAddressSpace: Bool {
    #if canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON
    #else
      let flags = MAP_PRIVATE | MAP_ANONYMOUS
    #endif
    // PROT_NONE: the pages count as address space, which `ulimit -v` limits, and use no memory.
    // SAFETY: the pages are neither read nor written, and they are unmapped at once.
    guard let pages = mmap(nil, addressSpace, PROT_NONE, flags, -1, 0), pages != MAP_FAILED else {
      return false
    }
    munmap(pages, addressSpace)
    return true
  }
}
