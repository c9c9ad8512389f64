import Foundation
import RetakeBuffers

/// A byte for each pixel of some pictures, in memory that may be refused: an array of Swift's that
/// finds none ends the process.
final class PictureBytes: @unchecked Sendable {
  // SAFETY: @unchecked because of the pointer. The memory is made here, of `count` bytes, written
  // only by the one that holds the only reference, and freed once, in deinit.
  let count: Int
  private let base: UnsafeMutableRawPointer

  /// Zeros; nil where there is no memory.
  init?(count: Int) {
    guard let base = calloc(max(1, count), 1) else { return nil }
    (self.count, self.base) = (count, base)
  }

  /// The same bytes once more; nil where there is no memory.
  convenience init?(copying other: PictureBytes) {
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
