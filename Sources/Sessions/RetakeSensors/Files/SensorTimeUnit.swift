/// The unit of the times in a file.
package enum SensorTimeUnit: String, CaseIterable, Sendable {
  case s, ms, us, ns
  /// A date and a time of day: `2024-05-01T12:30:00.250Z`.
  case date

  var nanosecondsDigits: Int {
    switch self {
    case .s, .date: 9
    case .ms: 6
    case .us: 3
    case .ns: 0
    }
  }
}
