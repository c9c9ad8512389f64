package import RetakeCore

/// Why a sensor or a sample cannot be stored.
package enum SampleError: RetakeError, Equatable {
  case tooManySensors(most: Int)
  case badName(String)
  case nameTaken(String)
  case channelCount(sensor: String, count: Int, most: Int)
  case badText(sensor: String)
  case valueCount(sensor: String, count: Int, channels: Int)
  case timeRange(sensor: String)
  /// A time is that much earlier than the previous sample's time.
  case backwards(sensor: String, nanoseconds: Int64)
  case store(ErrorFacts)

  package var facts: ErrorFacts {
    switch self {
    case .tooManySensors(let most):
      ErrorFacts(
        "sensor.count", "a session has at most \(most) sensors",
        advice: "Import fewer of them")
    case .badName(let name):
      ErrorFacts(
        "sensor.name.bad", "'\(name)' cannot be a sensor's name",
        advice: "Choose letters, digits, '-', '_', '.' and '/', at most 64, with name=NAME",
        kind: .usage)
    case .nameTaken(let name):
      ErrorFacts(
        "sensor.name.taken", "two sensors would have the name '\(name)'",
        advice: "Choose another one with name=NAME", kind: .usage)
    case .channelCount(let sensor, let count, let most):
      ErrorFacts(
        "sensor.channels",
        "the sensor \(sensor) has \(counted(count, "channel")), and may have "
          + "1 to \(most)",
        advice: "Name the channels that you need with columns=A+B")
    case .badText(let sensor):
      ErrorFacts(
        "sensor.text", "a name or a unit of the sensor \(sensor) is too long, or not printable",
        advice: "Use names of at most \(SensorRecord.textBytesMax) bytes")
    case .valueCount(let sensor, let count, let channels):
      ErrorFacts(
        "sensor.values",
        "a sample of the sensor \(sensor) has \(counted(count, "value")), and the sensor "
          + counted(channels, "channel"))
    case .timeRange(let sensor):
      ErrorFacts(
        "sensor.time.range", "a time of the sensor \(sensor) is too far from 0",
        advice: "Check the unit of the times: unit=s, ms, us or ns; "
          + "let times of a calendar begin with the session: offset=start")
    case .backwards(let sensor, let nanoseconds):
      ErrorFacts(
        "sensor.time.backwards",
        "a time of the sensor \(sensor) is "
          + "\(Duration.nanoseconds(nanoseconds).roundedText) earlier than the previous time",
        advice: "Sort the rows by their time")
    case .store(let facts): facts
    }
  }
}
