/// A device event with its time.
public struct TimedDeviceEvent: Hashable, Sendable {
  /// The index in the session's event table.
  public var ordinal: Int
  /// On the session's time line, not shifted, like presentation times.
  public var timestamp: Timestamp
  /// The changed state; the other states of the device remain.
  public var event: DeviceEvent

  /// An event for your own `FrameReader`. The values are not checked.
  public init(ordinal: Int, timestamp: Timestamp, event: DeviceEvent) {
    self.ordinal = ordinal
    self.timestamp = timestamp
    self.event = event
  }
}
