/// All lines of one captured frame, as in a results file.
package struct ResultFrame: Hashable, Sendable {
  package struct Outcome: Hashable, Sendable {
    /// Index into the header's sinks.
    package var sink: Int
    package var lines: [ResultLine]

    package init(sink: Int, lines: [ResultLine]) {
      self.sink = sink
      self.lines = lines
    }

    /// How the frame ended before this sink; `nil` if it was delivered.
    package var ended: (fate: FrameFate, node: String)? {
      guard case .ended(let fate, let node)? = lines.first else { return nil }
      return (fate, node)
    }
  }

  package var id: FrameID
  /// In the track's time base; `nil` if the frame had no presentation time.
  package var pts: Int64?
  package var outcomes: [Outcome]

  package init(id: FrameID, pts: Int64?, outcomes: [Outcome]) {
    self.id = id
    self.pts = pts
    self.outcomes = outcomes
  }
}
