import Foundation

/// One byte for each pixel of some images, with an allocation that may fail. If an allocation for a
/// Swift array fails, the process ends.
final class ImageBytes: @unchecked Sendable {
  // SAFETY: @unchecked because of the pointer. The memory is made here, of `count` bytes, written
  // only by the holder of the only reference, and freed once, in deinit.
  let count: Int
  private let base: UnsafeMutableRawPointer

  /// All zeros; nil if the allocation fails.
  init?(count: Int) {
    // For 0 bytes calloc may return NULL (man 3 malloc), which would look like a lack of memory.
    guard let base = calloc(max(1, count), 1) else { return nil }
    (self.count, self.base) = (count, base)
  }

  /// A copy of the bytes; nil if the allocation fails.
  convenience init?(copying other: ImageBytes) {
    self.init(count: other.count)
    base.copyMemory(from: other.base, byteCount: count)
  }

  deinit { free(base) }

  func withBytes<Result>(_ body: (UnsafeMutableBufferPointer<UInt8>) -> Result) -> Result {
    defer { withExtendedLifetime(self) {} }
    return body(
      UnsafeMutableBufferPointer(start: base.assumingMemoryBound(to: UInt8.self), count: count))
  }
}
