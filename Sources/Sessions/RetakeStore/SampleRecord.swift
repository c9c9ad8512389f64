package import RetakeCore

/// One sample of a sensor.
package struct SampleRecord: Hashable, Sendable {
  package var sensor: Int
  /// From 0, without gaps.
  package var index: Int
  /// When it was measured, on the session's time line; it never decreases within a sensor.
  package var timeNanoseconds: Int64
  /// When the recorder got it; it never decreases within a sensor.
  package var arrivalNanoseconds: Int64
  /// One for each channel.
  package var numbers: [Double]

  package init(
    sensor: Int, index: Int, timeNanoseconds: Int64, arrivalNanoseconds: Int64, numbers: [Double]
  ) {
    self.sensor = sensor
    self.index = index
    self.timeNanoseconds = timeNanoseconds
    self.arrivalNanoseconds = arrivalNanoseconds
    self.numbers = numbers
  }

  /// The record as users see it.
  package var sample: SensorSample {
    SensorSample(
      time: Timestamp(nanoseconds: timeNanoseconds),
      arrival: Timestamp(nanoseconds: arrivalNanoseconds), values: numbers)
  }
}
