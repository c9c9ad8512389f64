import RetakeCore

/// There was no memory for a frame. The content of the frame is not the cause.
package struct FrameMemoryError: CodedError, Hashable {
  /// Pixels.
  package var width: Int
  /// Pixels.
  package var height: Int

  package init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
  }

  package var code: String { "frame.memory" }

  package var message: String { "there was no memory for a frame of \(width)x\(height)" }

  package var cause: String? { nil }

  package var place: Place? { nil }

  package var advice: String? { "Give it more memory (ulimit -v), or end other programs" }
}
