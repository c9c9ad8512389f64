package import RetakeCore

/// A sensor: the description of its samples.
package struct SensorRecord: Hashable, Sendable {
  /// The most sensors of a session.
  package static let countMax = 1_000
  /// The most channels of a sensor.
  package static let channelsMax = 64
  /// The most bytes of a name, a kind, a unit, a channel and a source.
  package static let textBytesMax = 256

  /// Its number in the session, from 0; it is unrelated to the numbers of image tracks.
  package var sensor: Int
  /// Unique in the session: stages read the sensor by this name.
  package var name: String
  /// The measured quantity, such as `gyroscope`.
  package var kind: String
  /// Of all channels; empty without a unit, or if the channels have different units.
  package var unit: String
  /// In the order of a sample's values.
  package var channels: [String]
  /// Where the samples are from: the name of a file, of a topic, or `live`.
  package var source: String

  package init(
    sensor: Int, name: String, kind: String, unit: String, channels: [String], source: String
  ) {
    self.sensor = sensor
    self.name = name
    self.kind = kind
    self.unit = unit
    self.channels = channels
    self.source = source
  }

  /// The record as users see it.
  package func track(samples: Int) -> SensorTrack {
    SensorTrack(
      number: sensor, name: name, kind: kind, unit: unit, channels: channels, source: source,
      sampleCount: samples)
  }
}
