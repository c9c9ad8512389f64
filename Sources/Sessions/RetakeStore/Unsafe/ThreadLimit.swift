import Foundation

/// Address space for one thread, reserved until a connection is closed.
///
/// A connection has a dispatch queue, and libdispatch starts a thread to dispose of it. Without
/// memory for that thread it retries every second, forever: a command that ends because of a lack
/// of memory would hang instead.
final class ThreadLimit: @unchecked Sendable {
  // SAFETY: @unchecked because of the pointer, which is set once. The pages are neither read nor
  // written, and they are unmapped once, in deinit.
  private let pages: UnsafeMutableRawPointer
  private let bytes: Int

  /// Memory of a thread in addition to its stack.
  private static let moreBytes = 4 << 20

  private init(pages: UnsafeMutableRawPointer, bytes: Int) {
    (self.pages, self.bytes) = (pages, bytes)
  }

  deinit { munmap(pages, bytes) }

  /// - Throws: `StoreError.noMemory`.
  static func reserve(for path: String) throws -> ThreadLimit {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    var stackBytes = 0
    pthread_attr_getstacksize(&attributes, &stackBytes)
    let bytes = stackBytes + moreBytes
    #if canImport(Darwin)
      let flags = MAP_PRIVATE | MAP_ANON
    #else
      let flags = MAP_PRIVATE | MAP_ANONYMOUS
    #endif
    // PROT_NONE: the pages count as address space, which `ulimit -v` limits, and use no memory.
    guard let pages = mmap(nil, bytes, PROT_NONE, flags, -1, 0), pages != MAP_FAILED else {
      throw StoreError.noMemory(path: path)
    }
    return ThreadLimit(pages: pages, bytes: bytes)
  }
}
