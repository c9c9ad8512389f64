public import RetakeCore

/// Reads the samples of sensors by their time. Safe to use from any thread.
public protocol SensorReader: Sendable {
  /// In the order of their numbers; their names are unique.
  var sensors: [SensorTrack] { get }

  /// The newest sample of a sensor that was measured at or before `time`, among those that had
  /// arrived by `arrival`. Times are on the session's time line, not shifted.
  ///
  /// - Returns: `nil` if there is none.
  func latest(of sensor: Int, at time: Timestamp, arrivedBy arrival: Timestamp) throws
    -> SensorSample?

  /// The samples of a sensor that were measured after `start` and at or before `end`, in order,
  /// among those that had arrived by `arrival`.
  func samples(
    of sensor: Int, after start: Timestamp, upTo end: Timestamp, arrivedBy arrival: Timestamp
  ) throws -> [SensorSample]

  /// Changes with any sensor or sample. Values that were computed from others are not used again.
  func digest() throws -> Digest128
}

extension SensorReader {
  /// The samples of a sensor within `reach` before and after a time, whenever they arrived: what
  /// people look at. A stage reads what had arrived.
  package func samples(
    of sensor: Int, around time: Timestamp, reach: Int64
  ) throws -> [SensorSample] {
    try samples(
      of: sensor, after: time - reach, upTo: time + reach,
      arrivedBy: Timestamp(nanoseconds: .max))
  }
}
