import RetakeCore

/// What a pipeline said of one frame: what lies over the pictures from then on.
public struct PreviewResult: Hashable, Sendable {
  public var id: FrameID
  /// The frame's, on the session's time line.
  public var timestamp: Timestamp
  /// One per sink.
  public var outcomes: [SinkOutcome]
  /// The class names that came with a sink's detections, by sink as in `outcomes`.
  public var classNames: [[String]]

  public init(
    id: FrameID, timestamp: Timestamp, outcomes: [SinkOutcome], classNames: [[String]] = []
  ) {
    (self.id, self.timestamp, self.outcomes, self.classNames) =
      (id, timestamp, outcomes, classNames)
  }

  /// Whether a sink was given anything of it.
  public var hasFacts: Bool {
    outcomes.contains {
      if case .facts = $0.content { true } else { false }
    }
  }
}
