import CFFmpeg

/// The destination of a muxer's bytes: a descriptor that the caller opens, syncs and closes.
package struct MediaOutput: Sendable {
  /// Writes all the bytes at the offset; returns 0 or the system's error number.
  package var write: @Sendable (_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32
  /// Whether written bytes may be changed later: sizes, durations, the index.
  package var isSeekable: Bool

  package init(
    isSeekable: Bool = true,
    write: @escaping @Sendable (_ bytes: UnsafeRawBufferPointer, _ offset: Int64) -> Int32
  ) {
    self.isSeekable = isSeekable
    self.write = write
  }

  /// A regular file that is open for writing, from its beginning. It is not closed.
  package static func descriptor(_ descriptor: Int32) -> MediaOutput {
    // SAFETY: the system reads exactly `count` bytes.
    MediaOutput { bytes, offset in
      -retake_write_at(descriptor, bytes.baseAddress, Int64(bytes.count), offset)
    }
  }
}
