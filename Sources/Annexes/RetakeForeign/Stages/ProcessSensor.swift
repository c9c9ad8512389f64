import RetakeCore
import RetakeGraph

/// A sensor that a program reads for each frame.
package struct ProcessSensor: Codable, Hashable, Sendable {
  /// The sensor's name in the session.
  package var sensor: String
  /// How long before the frame's time the window begins, in milliseconds; 0 for the newest sample
  /// alone.
  package var milliseconds: Int

  package init(sensor: String, milliseconds: Int = 0) {
    (self.sensor, self.milliseconds) = (sensor, milliseconds)
  }

  private struct Key: CodingKey {
    var stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  /// An object, or a sensor's name alone.
  package init(from decoder: any Decoder) throws {
    if let name = try? decoder.singleValueContainer().decode(String.self) {
      self.init(sensor: name)
      return
    }
    let container = try decoder.container(keyedBy: Key.self)
    for key in container.allKeys where !["sensor", "milliseconds"].contains(key.stringValue) {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container,
        debugDescription: "a sensor has 'sensor' and 'milliseconds', not '\(key.stringValue)'")
    }
    let length = try container.decodeIfPresent(Int.self, forKey: Key(stringValue: "milliseconds"))
    self.init(
      sensor: try container.decode(String.self, forKey: Key(stringValue: "sensor")),
      milliseconds: length ?? 0)
  }

  /// More would be a mistake, as with a window that is longer.
  private static let countMax = 16
  private static let millisecondsMax = 600_000

  /// - Throws: `OptionError` for sensors that a program cannot read.
  static func reads(_ sensors: [ProcessSensor]) throws -> [SensorRead] {
    guard sensors.count <= countMax else {
      throw OptionError(key: "sensors", message: "names \(sensors.count), and may name \(countMax)")
    }
    var reads: [SensorRead] = []
    for sensor in sensors {
      guard !sensor.sensor.isEmpty else {
        throw OptionError(key: "sensors", message: "has a sensor without a name")
      }
      guard (0...millisecondsMax).contains(sensor.milliseconds) else {
        throw OptionError(
          key: "sensors",
          message: "has a window of \(sensor.milliseconds) ms; it is 0 to \(millisecondsMax)")
      }
      guard !reads.contains(where: { $0.sensor == sensor.sensor }) else {
        throw OptionError(key: "sensors", message: "names '\(sensor.sensor.shortened)' twice")
      }
      reads.append(.window(sensor.sensor, .milliseconds(sensor.milliseconds)))
    }
    return reads
  }
}
