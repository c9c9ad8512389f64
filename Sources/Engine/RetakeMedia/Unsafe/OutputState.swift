import CFFmpeg

/// The muxer's state of an output: the position, and the first failure, which is never retried.
final class OutputState {
  private let output: MediaOutput
  private(set) var position: Int64 = 0
  /// The highest offset written so far.
  private(set) var end: Int64 = 0
  /// The system's error number of the first failure; 0 if there was no failure.
  private(set) var errorNumber: Int32 = 0

  init(_ output: MediaOutput) {
    self.output = output
  }

  func write(_ bytes: UnsafeRawBufferPointer) -> Int32 {
    guard errorNumber == 0 else { return retake_error_from_errno(errorNumber) }
    errorNumber = output.write(bytes, position)
    guard errorNumber == 0 else { return retake_error_from_errno(errorNumber) }
    position += Int64(bytes.count)
    end = max(end, position)
    return Int32(clamping: bytes.count)
  }

  func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
    switch whence & ~retake_seek_force {
    case retake_seek_size: return end
    case SEEK_SET: position = offset
    case SEEK_CUR: position += offset
    case SEEK_END: position = end + offset
    default: return Int64(retake_error_invalid_argument)
    }
    return position
  }

  /// FFmpeg's buffered writer on this state, which must outlive it.
  func makeContext() -> UnsafeMutablePointer<AVIOContext> {
    let bufferBytes = 1 << 16
    let buffer = FFmpeg.required(av_malloc(bufferBytes)).assumingMemoryBound(to: UInt8.self)
    // SAFETY: the context now owns the buffer; `opaque` is this object, unretained, which the muxer
    // holds until after it has freed the context.
    let context = avio_alloc_context(
      buffer, Int32(bufferBytes), 1, Unmanaged.passUnretained(self).toOpaque(), nil,
      { opaque, bytes, count in
        guard let opaque else { return retake_error_invalid_argument }
        return Unmanaged<OutputState>.fromOpaque(opaque).takeUnretainedValue()
          .write(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      },
      output.isSeekable
        ? { opaque, offset, whence in
          guard let opaque else { return Int64(retake_error_invalid_argument) }
          return Unmanaged<OutputState>.fromOpaque(opaque).takeUnretainedValue()
            .seek(offset, whence)
        } : nil)
    return FFmpeg.required(context)
  }

  static func free(_ context: UnsafeMutablePointer<AVIOContext>?) {
    var context = context
    // SAFETY: the library may have replaced the buffer, so the buffer to free is in the context's
    // field.
    if let context { av_freep(&context.pointee.buffer) }
    avio_context_free(&context)
  }
}
