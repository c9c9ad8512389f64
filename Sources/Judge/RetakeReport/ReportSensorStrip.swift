package import RetakeCore

/// The samples of a sensor around a frame, as the page draws them.
package struct ReportSensorStrip: Hashable, Sendable, Codable {
  /// The values of one channel of the sensor.
  package struct Curve: Hashable, Sendable, Codable {
    package var channel: String
    /// A value for each of the strip's times; `nil` where the sensor had no value.
    package var values: [Double?]

    package init(channel: String, values: [Double?]) {
      (self.channel, self.values) = (channel, values)
    }
  }

  package var frame: FrameID
  /// The sensor's name in the session.
  package var sensor: String
  package var unit: String?
  /// The first stage that reads it, and how long before the frame its window begins.
  package var node: String
  package var windowNanoseconds: Int64
  /// The time on either side of the frame that is drawn.
  package var reachNanoseconds: Int64
  /// When the samples were measured, from the frame's presentation time; never decreasing.
  package var times: [Int64]
  /// The first channels.
  package var curves: [Curve]

  package init(
    frame: FrameID, sensor: String, unit: String?, node: String, windowNanoseconds: Int64,
    reachNanoseconds: Int64, times: [Int64], curves: [Curve]
  ) {
    (self.frame, self.sensor) = (frame, sensor)
    (self.unit, self.node) = (unit, node)
    (self.windowNanoseconds, self.reachNanoseconds) = (windowNanoseconds, reachNanoseconds)
    (self.times, self.curves) = (times, curves)
  }
}
