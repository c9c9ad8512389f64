/// A sensor that was recorded with a session, such as a gyroscope: the description of its samples.
public struct SensorTrack: Hashable, Sendable {
  /// The sensor's number in the session, from 0. Tracks of images are numbered separately.
  public var number: Int
  /// Unique in the session: stages and commands refer to the sensor by this name.
  public var name: String
  /// The measured quantity, or the type of sensor, such as `gyroscope`, `accelerometer` or `gps`.
  public var kind: String
  /// The unit of all channels, such as `rad/s`, or a list with the unit of each channel, such as
  /// `m,°`; empty if the channels have no unit.
  public var unit: String
  /// The names of a sample's values, in order: at least 1, at most 64.
  public var channels: [String]
  /// Where the samples are from: the name of a file or a topic, or `live`.
  public var source: String
  /// The number of samples.
  public var sampleCount: Int

  /// For your own reader.
  public init(
    number: Int, name: String, kind: String, unit: String = "", channels: [String],
    source: String = "", sampleCount: Int
  ) {
    self.number = number
    self.name = name
    self.kind = kind
    self.unit = unit
    self.channels = channels
    self.source = source
    self.sampleCount = sampleCount
  }
}
