public import RetakeCore

/// Sensors that an app records with its frames.
///
/// ```swift
/// let recorder = try Recorder(source, options: RecorderOptions(name: "yard"))
/// let gyroscope = try recorder.addSensor(
///   "gyroscope", unit: "rad/s", channels: ["x", "y", "z"])
/// motion.onSample { sample in                              // from any thread
///   recorder.push(to: gyroscope, [sample.x, sample.y, sample.z], time: sample.time)
/// }
/// ```
extension Recorder {
  /// Adds a sensor to the session. A pipeline that runs alongside reads it by its name, so it has
  /// to be added before `run()`.
  ///
  /// - Parameters:
  ///   - name: Letters and digits of ASCII, `-`, `_`, `.` and `/`, at most 64; unique.
  ///   - kind: The measured quantity; the name if `nil`.
  ///   - unit: Of all channels.
  ///   - channels: The names of a sample's values, 1 to 64.
  /// - Returns: the sensor, for `push`.
  /// - Throws: A `CodedError` with the code `sensor.name.taken`, `sensor.name.bad` or
  ///   `sensor.channels`; `RecordError.ringWithSensors`.
  public func addSensor(
    _ name: String, kind: String? = nil, unit: String = "", channels: [String]
  ) throws -> Int {
    guard !hasRing else { throw RecordError.ringWithSensors }
    return try sensors.add(name: name, kind: kind ?? name, unit: unit, channels: channels)
  }

  /// Stores a sample. It never waits, and a frame that has arrived before does not see it.
  ///
  /// - Parameters:
  ///   - sensor: The number that `addSensor` returned.
  ///   - values: A value for each channel; NaN for a missing value.
  ///   - time: When it was measured, on the time line of the frames' timestamps; now if `nil`.
  /// - Returns: false if the sample was refused: another number of values, or a time that is
  ///   earlier than the previous sample's time.
  @discardableResult
  public func push(to sensor: Int, _ values: [Double], time: Timestamp? = nil) -> Bool {
    sensors.push(sensor, time: time, values)
  }
}
