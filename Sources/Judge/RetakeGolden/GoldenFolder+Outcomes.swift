package import RetakeCore

extension GoldenFolder {
  /// Reads the values of each frame at a sink, in the order of capture.
  ///
  /// - Returns: The names of the sink's classes; `nil` if the sink does not exist.
  /// - Throws: As `manifest()` and `chunk(_:)`, and the errors of `body`.
  package func eachOutcome(
    at sink: String, _ body: (FrameID, [ResultLine]) throws -> Void
  ) throws -> [String]? {
    var classes: [String] = []
    for index in 0..<Self.chunkCount(frames: try manifest().summary.captured) {
      let chunk = try chunk(index)
      guard let place = chunk.header.sinks.firstIndex(of: sink) else { return nil }
      // A class that is found later is not in earlier headers.
      classes = chunk.header.classes[place]
      for block in chunk.blocks {
        for frame in try frames(of: block, chunk) {
          // A frame of another camera has no outcome at the sink.
          guard let outcome = frame.outcomes.first(where: { $0.sink == place }) else { continue }
          try body(frame.id, outcome.lines)
        }
      }
    }
    return classes
  }
}
