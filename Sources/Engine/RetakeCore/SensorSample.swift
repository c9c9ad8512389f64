/// One sample of a sensor.
public struct SensorSample: Hashable, Sendable {
  /// When it was measured. In a session, on its time line; in a stage, from the replay's origin, as
  /// `StageContext.timestamp`. It never decreases within a sensor.
  public var time: Timestamp
  /// When the recorder got it, on the same time line. It never decreases within a sensor.
  public var arrival: Timestamp
  /// One number for each channel; NaN where the sensor delivered no number.
  public var values: [Double]

  /// For a test, or your own reader.
  public init(time: Timestamp, arrival: Timestamp, values: [Double]) {
    self.time = time
    self.arrival = arrival
    self.values = values
  }
}
