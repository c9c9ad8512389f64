/// All outcomes of one captured frame: the unit of a results file.
public struct FrameResult: Hashable, Sendable {
  /// The captured frame.
  public var id: FrameID
  /// In the track's time base; `nil` if the frame had no presentation time.
  public var pts: Int64?
  /// One per sink, sinks in rising order of their path.
  public var outcomes: [SinkOutcome]

  /// `outcomes` have to be in rising order of the sinks' paths; they are stored as given.
  package init(id: FrameID, pts: Int64?, outcomes: [SinkOutcome]) {
    self.id = id
    self.pts = pts
    self.outcomes = outcomes
  }
}
