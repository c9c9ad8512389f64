import RetakeCore

/// A value that an entry has under a name.
struct SubtitleField: Equatable {
  enum Value: Equatable {
    /// `1` is the unit of a plain number.
    case number(Double, unit: String)
    case missing
    case text(String)
  }

  var name: String
  var value: Value
  /// As in `SubtitleEntry.Line`.
  var place: Int

  /// - Parameters:
  ///   - isOlder: Whether the field is outside brackets, as older cameras write it: their
  ///     `Shutter:60` is 1/60 s.
  ///   - isCompact: Whether a blank is before the colon. Such cameras write `fnum : 280` for f/2.8,
  ///     and `focal_len : 240` for 24 mm.
  init(_ name: String, _ text: Substring, isOlder: Bool, isCompact: Bool = false, place: Int) {
    let lower = name.lowercased()
    self.name = Self.names[lower] ?? lower
    self.place = place
    value = Self.value(text, of: self.name, isOlder: isOlder)
    if isCompact, let scale = Self.compactScales[self.name], !text.contains("."),
      case .number(let number, let unit) = value
    {
      value = .number(number / scale, unit: unit)
    }
  }

  /// Names of measurements that make an entry telemetry.
  static let usual: Set<String> = [
    "abs_alt", "altitude", "barometer", "ev", "fnum", "iso", "latitude", "longitude", "rel_alt",
    "shutter",
  ]

  /// Other ways in which cameras write a name.
  private static let names = [
    "d": "distance", "f": "fnum", "h": "height", "h.s": "horizontal_speed",
    "longtitude": "longitude", "ss": "shutter", "v.s": "vertical_speed",
  ]

  private static let units = [
    "abs_alt": "m", "altitude": "m", "barometer": "m", "ct": "K", "ev": "EV", "focal_len": "mm",
    "gb_pitch": "°", "gb_roll": "°", "gb_yaw": "°", "home_latitude": "°", "home_longitude": "°",
    "latitude": "°", "longitude": "°", "rel_alt": "m", "shutter": "s",
  ]

  /// Of whole numbers.
  private static let compactScales = ["fnum": 100.0, "focal_len": 10]

  /// Units after a number, as cameras write them.
  private static let endings = [
    "%": "%", "K": "K", "M": "m", "m": "m", "m/s": "m/s", "mm": "mm", "ms": "ms", "s": "s",
    "°": "°",
  ]

  private static let missing: Set<String> = ["", "-", "--", "n/a", "na", "nan", "none", "null"]

  private static func value(_ text: Substring, of name: String, isOlder: Bool) -> Value {
    var text = text
    if missing.contains(text.lowercased()) { return .missing }
    if name == "fnum", text.first == "F" || text.first == "f" { text = text.dropFirst() }
    let parts = text.split(separator: "/", omittingEmptySubsequences: false)
    if parts.count == 2, let over = number(parts[0]), let under = number(parts[1]), under != 0 {
      return .number(over / under, unit: units[name] ?? "1")
    }
    let digits = text.prefix { $0.isASCII && ($0.isNumber || "+-.".contains($0)) }
    if let value = number(digits), digits.endIndex < text.endIndex,
      let unit = endings[String(text[digits.endIndex...])]
    {
      return .number(value, unit: unit)
    }
    guard let value = number(text) else { return .text(String(text)) }
    let usual = isOlder && name == "shutter" ? "1/s" : units[name]
    return .number(value, unit: usual ?? "1")
  }

  private static func number(_ text: Substring) -> Double? {
    guard let first = text.first, first.isASCII, first.isNumber || "+-.".contains(first) else {
      return nil
    }
    return SensorNumber.parse(String(text)).flatMap { $0.isFinite ? $0 : nil }
  }

  /// Whether a position is one on Earth; other values always are.
  var isInRange: Bool {
    guard case .number(let number, _) = value else { return true }
    switch name {
    case "latitude", "home_latitude": return abs(number) <= 90
    case "longitude", "home_longitude": return abs(number) <= 180
    default: return true
    }
  }
}
