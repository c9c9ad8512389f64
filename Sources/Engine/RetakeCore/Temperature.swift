/// A temperature, in whole thousandths of a degree Celsius, so that it has the same value on every
/// machine.
///
/// ```swift
/// let limit: Temperature = 45
/// let skin = Temperature(celsius: 43.25)
/// ```
public struct Temperature: Hashable, Sendable, Comparable, CustomStringConvertible {
  /// Thousandths of a degree Celsius, as the thermal zones of Linux report them.
  public var millidegrees: Int

  /// The temperatures that a document or a sensor may contain: −100 to 300 °C.
  package static let range =
    Temperature(millidegrees: -100_000)...Temperature(millidegrees: 300_000)

  /// The number is not checked.
  public init(millidegrees: Int) {
    self.millidegrees = millidegrees
  }

  /// The nearest thousandth of a degree. Ends the process if the number is not finite, or not
  /// within a million degrees.
  public init(celsius: Double) {
    requirement(celsius.magnitude <= 1e6, "a temperature is a number of degrees Celsius")
    millidegrees = Int((celsius * 1_000).rounded(.toNearestOrAwayFromZero))
  }

  /// Degrees Celsius.
  public var celsius: Double { Double(millidegrees) / 1_000 }

  /// Parses `"45C"`, `"45.25C"` or `"-10C"`; `nil` for any other form, for more than three digits
  /// after the point, and outside −100 to 300 °C.
  package init?(parsing text: some StringProtocol) {
    guard text.last == "C" else { return nil }
    let isNegative = text.first == "-"
    let number = text.dropLast().dropFirst(isNegative ? 1 : 0)
    guard let millidegrees = FixedPoint.parse(number, digits: 3) else { return nil }
    self.init(millidegrees: isNegative ? -millidegrees : millidegrees)
    guard Self.range.contains(self) else { return nil }
  }

  /// The message about a value of a document that is not a temperature.
  package static let rule = "a temperature is degrees Celsius from -100 to 300, such as 45C"
  package static let advice =
    "Write it like 45C or 43.5C, with at most three digits after the point"

  /// The shortest form that `init(parsing:)` reads: `45C`, `45.25C`.
  public var description: String { FixedPoint.text(millidegrees, digits: 3) + "C" }

  /// Orders temperatures from cold to hot.
  public static func < (left: Self, right: Self) -> Bool {
    left.millidegrees < right.millidegrees
  }
}

extension Temperature: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
  /// Degrees Celsius.
  public init(integerLiteral celsius: Int) { self.init(millidegrees: celsius * 1_000) }

  /// Degrees Celsius.
  public init(floatLiteral celsius: Double) { self.init(celsius: celsius) }
}
