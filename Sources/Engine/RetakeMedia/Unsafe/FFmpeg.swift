import CFFmpeg

/// FFmpeg's global state, set up once before its first use.
enum FFmpeg {
  /// FFmpeg's log does not reach standard error, because a library must not write there. Lines of
  /// decoders are kept with the decoders.
  static let quiet: Void = DecoderLog.install()

  /// FFmpeg's own message for an error number.
  static func text(_ error: Int32) -> String {
    // SAFETY: the library writes at most `count` bytes, the last one a zero.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      buffer.initialize(repeating: 0)
      guard let base = buffer.baseAddress else { return "error \(error)" }
      av_strerror(error, base, buffer.count)
      return String(cString: base)
    }
  }

  /// An object that FFmpeg allocates.
  ///
  /// - Parameter step: The purpose of the object, as an infinitive.
  /// - Throws: `MediaError.noMemory`.
  static func allocated<T>(
    _ pointer: T?, _ step: String, file: String? = nil
  ) throws(MediaError) -> T {
    guard let pointer else { throw .noMemory(step: step, file: file) }
    return pointer
  }

  /// A pointer that FFmpeg always sets, or a small object where no error can be reported.
  static func required<T>(_ pointer: T?) -> T {
    guard let pointer else { preconditionFailure("out of memory") }
    return pointer
  }
}
