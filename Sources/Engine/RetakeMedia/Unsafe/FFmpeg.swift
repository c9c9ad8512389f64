import CFFmpeg

/// FFmpeg's global state, set up once before its first use.
enum FFmpeg {
  /// FFmpeg's log does not reach standard error, because a library must not write there. What
  /// decoders say is kept with them.
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
  /// - Parameter step: What the object is for, as an infinitive.
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

/// An options dictionary that is passed to FFmpeg and back.
struct OptionDictionary: ~Copyable {
  // SAFETY: the library makes, changes and frees the dictionary; only this value owns it.
  var pointer: OpaquePointer?

  /// In the given order, which is also the order in which they are applied.
  init(_ options: KeyValuePairs<String, String>) {
    for (name, value) in options { av_dict_set(&pointer, name, value, 0) }
  }

  init(_ options: [(name: String, value: String)]) {
    for option in options { av_dict_set(&pointer, option.name, option.value, 0) }
  }

  deinit {
    var pointer = pointer
    av_dict_free(&pointer)
  }

  /// The name of an option that was not used.
  var leftover: String? {
    av_dict_get(pointer, "", nil, AV_DICT_IGNORE_SUFFIX).map { String(cString: $0.pointee.key) }
  }
}
