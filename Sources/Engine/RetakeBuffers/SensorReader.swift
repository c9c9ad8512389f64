public import RetakeCore

/// Reads the samples of sensors by their time. Safe to use from any thread.
public protocol SensorReader: Sendable {
  /// In the order of their numbers; their names are unique.
  var sensors: [SensorTrack] { get }

  /// The newest sample of a sensor that was measured at or before `time` and had arrived by
  /// `arrival`. Times are on the session's time line, not shifted.
  ///
  /// - Returns: `nil` if there is no such sample.
  func latest(of sensor: Int, at time: Timestamp, arrivedBy arrival: Timestamp) throws
    -> SensorSample?

  /// The samples of a sensor that were measured after `start` and at or before `end` and had
  /// arrived by `arrival`, in order.
  func samples(
    of sensor: Int, after start: Timestamp, upTo end: Timestamp, arrivedBy arrival: Timestamp
  ) throws -> [SensorSample]

  /// Changes with any sensor or sample. Values that were computed from others are not used again.
  func digest() throws -> Digest128
}

extension SensorReader {
  /// The samples of a sensor within `reach` nanoseconds before and after a time, whenever they
  /// arrived: for display. A stage reads only samples that had arrived.
  package func samples(
    of sensor: Int, around time: Timestamp, reach: Int64
  ) throws -> [SensorSample] {
    try samples(
      of: sensor, after: time - reach, upTo: time + reach,
      arrivedBy: Timestamp(nanoseconds: .max))
  }
}
