public import RetakeCore

/// The information that a stage may use in addition to its input.
public struct StageContext: Sendable {
  /// The frame that is being processed.
  public var frame: FrameID
  /// The frame's presentation time on the session's time line, from the replay's origin.
  public var timestamp: Timestamp
  /// Index inside a forEach; `nil` if the stage processes the frame.
  public var item: Int?
  /// The samples of each sensor that the stage names in `StageDefinition.sensors`.
  package(set) public var sensors: [SensorReading]
  /// The run that calls the stage; `nil` in a test.
  package var run: StageRun?
  /// The ID of the stage's node; empty in a test.
  package var node = ""
  /// Virtual time at which the call begins, from the replay's origin. Only set for a
  /// `ProgramInstance`: the output of any other stage must not depend on it.
  package var nowNanoseconds: Int64 = 0
  /// Whether the frame is a key frame of its session, for a `ProgramInstance`; `nil` if it is not
  /// known.
  package var isKeyFrame: Bool?

  /// For a test that calls `process` itself; `item` is `nil` unless the stage is in a forEach.
  public init(
    frame: FrameID, timestamp: Timestamp, item: Int? = nil, sensors: [SensorReading] = []
  ) {
    self.frame = frame
    self.timestamp = timestamp
    self.item = item
    self.sensors = sensors
  }
}
