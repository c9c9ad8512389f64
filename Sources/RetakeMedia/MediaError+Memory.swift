import CFFmpeg

extension MediaError {
  /// There may be memory for the next picture or packet.
  package var isOutOfMemory: Bool {
    if case .noMemory = self { true } else { false }
  }

  /// Says nothing about the bytes that were decoded: with more memory they may be fine.
  package var isAboutMemory: Bool {
    switch self {
    case .noMemory, .pictureMemory: true
    default: false
    }
  }

  /// Later packets are refused for the same reason.
  package var isLasting: Bool {
    switch self {
    case .bitDepth, .pixelFormat, .encrypted, .pictureMemory: true
    default: false
    }
  }

  /// What a call of FFmpeg's ended with: `error`, given FFmpeg's words, unless there was no memory.
  ///
  /// - Parameter step: What there was no memory for, as an infinitive.
  static func of(
    _ number: Int32, _ step: String, file: String? = nil, _ error: (String) -> MediaError
  ) -> MediaError {
    number == retake_error_no_memory
      ? .noMemory(step: step, file: file) : error(FFmpeg.text(number))
  }
}
