public import RetakeCore

/// The results of a pipeline for one frame, drawn over the images from then on.
public struct PreviewResult: Hashable, Sendable {
  /// The frame that the results belong to.
  public var id: FrameID
  /// The time stamp of the frame, on the session's time line.
  public var timestamp: Timestamp
  /// One per sink.
  public var outcomes: [SinkOutcome]
  /// The class names of each sink's detections, in the order of `outcomes`.
  public var classNames: [[String]]

  /// `classNames` is empty, or has one list for each of the `outcomes`.
  public init(
    id: FrameID, timestamp: Timestamp, outcomes: [SinkOutcome], classNames: [[String]] = []
  ) {
    (self.id, self.timestamp, self.outcomes, self.classNames) =
      (id, timestamp, outcomes, classNames)
  }

  /// Whether any sink received results for the frame.
  package var hasFacts: Bool {
    outcomes.contains {
      if case .facts = $0.content { true } else { false }
    }
  }
}
