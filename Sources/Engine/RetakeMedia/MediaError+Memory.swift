import CFFmpeg

extension MediaError {
  /// An allocation failed; there may be memory for the next image or packet.
  package var isOutOfMemory: Bool {
    if case .noMemory = self { true } else { false }
  }

  /// Later packets fail for the same reason.
  package var isLasting: Bool {
    switch self {
    case .bitDepth, .pixelFormat, .encrypted, .pictureMemory: true
    default: false
    }
  }

  /// Converts the result of an FFmpeg call: `.noMemory` for a lack of memory, otherwise `error`
  /// with FFmpeg's message.
  ///
  /// - Parameter step: The operation that failed, as an infinitive.
  static func of(
    _ number: Int32, _ step: String, file: String? = nil, _ error: (String) -> MediaError
  ) -> MediaError {
    number == retake_error_no_memory
      ? .noMemory(step: step, file: file) : error(FFmpeg.text(number))
  }
}
