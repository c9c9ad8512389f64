import Retake

/// Sensors in the text of commands.
enum SensorText {
  /// `gyroscope  4795 samples  z,x,y in rad/s  karma.mp4`.
  static func line(_ sensor: SensorTrack) -> String {
    let unit = sensor.unit.isEmpty ? "" : " in \(sensor.unit)"
    let count = counted(sensor.sampleCount, "sample")
    return visible(
      "sensor \(sensor.name)  \(count)  \(sensor.channels.joined(separator: ","))\(unit)  "
        + sensor.source)
  }
}
