import RetakeStore

/// How the numbers of a type's messages become sensors: usually one sensor, with a channel for each
/// number.
///
/// - Each quantity of an Imu message becomes a sensor, so that a stage can read only the gyroscope.
/// - Variances and covariances become a separate sensor, because a stage rarely wants them.
package struct SensorPlan: Hashable, Sendable {
  /// One sensor.
  struct Part: Hashable, Sendable {
    /// Added to the name of the topic; empty for the topic itself.
    var suffix: String
    var kind: String
    /// Of all channels; empty if no unit is known, or if the units differ.
    var unit: String
    var channels: [String]
    /// The indexes of its numbers in the layout, one for each channel.
    var places: [Int]
  }

  package let layout: MessageLayout
  private(set) var parts: [Part] = []
  /// Numbers that are left out because a sensor has fewer channels.
  private(set) var leftOut = 0

  private static let variance = "variance"

  /// - Throws: `DefinitionProblem` if a sensor cannot hold the numbers of the messages.
  init(_ layout: MessageLayout, type: String, unit: String = "") throws {
    self.layout = layout
    let type = MessageDefinition.plain(type)
    var groups: [(name: String, places: [Int])] = []
    for (place, path) in layout.channels.enumerated() {
      let name = Self.group(path, type)
      if let known = groups.firstIndex(where: { $0.name == name }) {
        groups[known].places.append(place)
      } else {
        groups.append((name, [place]))
      }
    }
    for (name, places) in groups {
      guard places.count <= SensorRecord.channelsMax else {
        guard name == Self.variance, groups.count > 1 else {
          throw DefinitionProblem(
            cause: "\(places.count) numbers; a sensor has at most \(SensorRecord.channelsMax)")
        }
        leftOut = places.count
        continue
      }
      parts.append(try part(name, places, type, unit))
    }
  }

  private static func group(_ path: MessageLayout.Path, _ type: String) -> String {
    if path.contains(where: { $0.hasSuffix(variance) }) { return variance }
    return type == "sensor_msgs/Imu" ? path.first ?? "" : ""
  }

  private func part(
    _ group: String, _ places: [Int], _ type: String, _ known: String
  ) throws -> Part {
    var paths = places.map { layout.channels[$0] }
    if group != Self.variance { paths = Self.withoutCommonStart(paths) }
    let channels = paths.map { $0.joined(separator: ".") }
    guard channels.allSatisfy(\.isSensorText) else {
      throw DefinitionProblem(
        cause: "a field whose name has more than \(SensorRecord.textBytesMax) bytes")
    }
    let (kind, unit) = Self.meaning(group, type)
    return Part(
      suffix: group, kind: kind, unit: unit.isEmpty ? known : unit, channels: channels,
      places: places)
  }

  /// `twist.linear.x` and `twist.angular.x` are `linear.x` and `angular.x`; places in an array keep
  /// its name.
  private static func withoutCommonStart(_ paths: [MessageLayout.Path]) -> [MessageLayout.Path] {
    var paths = paths
    // Ends: each round makes the paths shorter.
    while let first = paths.first?.first,
      paths.allSatisfy({
        $0.count > 1 && $0[0] == first && $0[1].first?.isNumber == false
      })
    { paths = paths.map { Array($0.dropFirst()) } }
    return paths
  }

  private static func meaning(_ group: String, _ type: String) -> (kind: String, unit: String) {
    switch group {
    case variance: return (variance, "")
    case "angular_velocity": return ("gyroscope", "rad/s")
    case "linear_acceleration": return ("accelerometer", "m/s²")
    case "orientation": return ("orientation", "")
    default: break
    }
    if let known = meanings[type] { return known }
    // The name of the type, because only the user knows the measured quantity.
    let name = type.split(separator: "/").last ?? ""
    let letters = name.lowercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
    return (letters.isEmpty ? "topic" : String(letters.prefix(64)), "")
  }

  private static let meanings: [String: (kind: String, unit: String)] = [
    "sensor_msgs/NavSatFix": ("gps", ""),
    "sensor_msgs/MagneticField": ("magnetometer", "T"),
    "sensor_msgs/FluidPressure": ("pressure", "Pa"),
    "sensor_msgs/Temperature": ("temperature", "°C"),
    "sensor_msgs/RelativeHumidity": ("humidity", ""),
    "sensor_msgs/Illuminance": ("illuminance", "lx"),
    "geometry_msgs/PoseStamped": ("pose", ""),
    "geometry_msgs/TwistStamped": ("twist", ""),
  ]
}
