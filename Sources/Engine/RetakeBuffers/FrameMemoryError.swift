package import RetakeCore

/// There was no memory for a frame. The content of the frame is not the cause.
package struct FrameMemoryError: RetakeError, Hashable {
  /// Pixels.
  package var width: Int
  /// Pixels.
  package var height: Int

  package init(width: Int, height: Int) {
    (self.width, self.height) = (width, height)
  }

  package var facts: ErrorFacts {
    ErrorFacts(
      "frame.memory", "there was no memory for a frame of \(width)x\(height)",
      advice: "Allow more memory (ulimit -v), or end other programs", kind: .memory)
  }
}
