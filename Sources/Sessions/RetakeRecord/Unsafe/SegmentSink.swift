import Foundation
import RetakeMedia

/// The destination of one segment's bytes. Only the writer's thread uses it; tests use a failing
/// one.
protocol SegmentSink: AnyObject, Sendable {
  /// Writes all the bytes at the offset; returns 0 or the system's error number.
  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32
  /// Makes everything written so far durable; returns 0 or the system's error number.
  func synchronize() -> Int32
  /// Releases disk space after this offset. A failure has no consequence.
  func truncate(to bytes: Int64)
  func close()
}

extension SegmentSink {
  /// An output for a muxer.
  var output: MediaOutput { MediaOutput { bytes, offset in self.write(bytes, at: offset) } }
}

/// A new file.
final class FileSink: SegmentSink {
  private let descriptor: Int32

  private init(descriptor: Int32) {
    self.descriptor = descriptor
  }

  /// - Returns: the file, which must not exist yet, or the system's error number.
  static func create(_ path: String) -> SinkResult {
    let descriptor = FileSystem.create(path)
    return descriptor >= 0 ? .sink(FileSink(descriptor: descriptor)) : .failed(-descriptor)
  }

  func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> Int32 {
    // Each write has its own offset, because the muxer returns to the file's beginning at the end.
    var done = 0
    // Ends: each round writes something or returns.
    while done < bytes.count {
      // SAFETY: the system reads at most the bytes from `done` on, which are inside the buffer.
      let count = pwrite(
        descriptor, bytes.baseAddress?.advanced(by: done), bytes.count - done,
        off_t(offset + Int64(done)))
      if count < 0 {
        if errno == EINTR { continue }
        return errno
      }
      // Without progress and without an error number the loop would not end.
      guard count > 0 else { return EIO }
      done += count
    }
    return 0
  }

  func synchronize() -> Int32 { FileSystem.synchronizeData(descriptor) }

  func truncate(to bytes: Int64) {
    _ = ftruncate(descriptor, off_t(bytes))
  }

  func close() {
    _ = Foundation.close(descriptor)
  }
}
