/// A device event with its time.
public struct TimedDeviceEvent: Hashable, Sendable {
  /// The index in the session's event table.
  public var ordinal: Int
  /// On the session's time line, not shifted, like presentation times.
  public var timestamp: Timestamp
  /// What changed; the other states of the device stay as they were.
  public var event: DeviceEvent

  /// An event for a `FrameReader` of your own. None of the values is checked.
  public init(ordinal: Int, timestamp: Timestamp, event: DeviceEvent) {
    self.ordinal = ordinal
    self.timestamp = timestamp
    self.event = event
  }
}
