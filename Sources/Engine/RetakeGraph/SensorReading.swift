public import RetakeCore

/// The samples of a sensor that a stage read for one frame.
public struct SensorReading: Hashable, Sendable {
  /// The sensor: its channels are the names of the samples' values.
  public var track: SensorTrack
  /// The newest sample that was measured, and had arrived, when the frame arrived; `nil` before the
  /// first one.
  public var latest: SensorSample?
  /// The samples that were measured in the window, in order. It ends with the frame's presentation
  /// time, which is part of it, and begins `SensorRead.length` before, which is not.
  public var window: [SensorSample]

  /// For a test that calls a stage's `process` itself.
  public init(track: SensorTrack, latest: SensorSample? = nil, window: [SensorSample] = []) {
    self.track = track
    self.latest = latest
    self.window = window
  }

  /// The newest value of a channel; `nil` before the first sample, and without such a channel.
  public subscript(channel: String) -> Double? {
    guard let place = track.channels.firstIndex(of: channel), let latest,
      latest.values.indices.contains(place)
    else { return nil }
    return latest.values[place]
  }
}
