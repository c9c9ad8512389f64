#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The thread on which the jobs of a scope run. It is not one of Swift's pool, so that it may wait.
enum DriverThread {
  private final class Start {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
  }

  /// The usual stack size of a main thread, because app code runs on this thread.
  private static let stackBytes = 8 << 20

  /// Which thread calls, as a number.
  static var current: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      pthread_self()
    #endif
  }

  /// - Throws: `VirtualTimeError.noThread`; then `body` is never called.
  static func start(_ body: @escaping @Sendable () -> Void) throws(VirtualTimeError) {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackBytes)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    // SAFETY: retained once here, and released once: by the thread, or below if there is no thread.
    let start = Unmanaged.passRetained(Start(body))
    #if canImport(Darwin)
      var thread: pthread_t?
    #else
      var thread = pthread_t()
    #endif
    let number = pthread_create(&thread, &attributes, entry, start.toOpaque())
    guard number != 0 else { return }
    start.release()
    throw .noThread(reason: String(cString: strerror(number)))
  }

  #if canImport(Darwin)
    private static let entry: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? =
      {
        run($0)
        return nil
      }
  #else
    private static let entry:
      @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = {
        if let start = $0 { run(start) }
        return nil
      }
  #endif

  private static func run(_ start: UnsafeMutableRawPointer) {
    // SAFETY: `start(_:)` made the pointer from a `Start` and gave its reference to this thread.
    Unmanaged<Start>.fromOpaque(start).takeRetainedValue().body()
  }
}
