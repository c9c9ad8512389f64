/// An option of a stage in one declaration: its default, its meaning and its range.
///
/// ```swift
/// @OptionValue("order of the filter, {range}; a higher one has steeper edges", in: 1...6)
/// package var order = 2
/// ```
///
/// A decoded option knows only its value. Meaning and range are therefore read from
/// `StageOptions.init()`, which has the declared ones.
@propertyWrapper
package struct OptionValue<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
  package var wrappedValue: Value
  fileprivate var meaning = ""
  private var range: (text: String, contains: @Sendable (Value) -> Bool)?

  /// - Parameter meaning: One line with the unit and the range, for `retake pipeline stages`.
  package init(wrappedValue: Value, _ meaning: String) {
    (self.wrappedValue, self.meaning) = (wrappedValue, meaning)
  }

  /// - Parameters:
  ///   - meaning: As in the other initializer; `{range}` in it is replaced by the range.
  ///   - range: `StageOptions.checkRanges` refuses other values.
  package init(wrappedValue: Value, _ meaning: String, in range: ClosedRange<Value>)
  where Value: Comparable {
    let (first, last) = ("\(range.lowerBound)", "\(range.upperBound)")
    func short(_ bound: String) -> String { bound.hasSuffix(".0") ? "\(bound.dropLast(2))" : bound }
    let parts = meaning.split(separator: "{range}", omittingEmptySubsequences: false)
    self.init(
      wrappedValue: wrappedValue, parts.joined(separator: "\(short(first)) to \(short(last))"))
    self.range = ("\(first) to \(last)", { range.contains($0) })
  }

  package init(from decoder: any Decoder) throws { wrappedValue = try Value(from: decoder) }

  package func encode(to encoder: any Encoder) throws { try wrappedValue.encode(to: encoder) }

  package static func == (left: Self, right: Self) -> Bool {
    left.wrappedValue == right.wrappedValue
  }

  package func hash(into hasher: inout Hasher) { wrappedValue.hash(into: &hasher) }

  /// Checks the value of another option, `key`, against the range of this one.
  fileprivate func check(_ other: Any, _ key: String) throws {
    guard let range, let other = other as? Self, !range.contains(other.wrappedValue) else { return }
    throw OptionError(key: key, message: "must be \(range.text), is \(other.wrappedValue)")
  }
}

/// An `OptionValue` of any type.
private protocol AnyOptionValue {
  var meaning: String { get }
  func check(_ other: Any, _ key: String) throws
}

extension OptionValue: AnyOptionValue {}

extension StageOptions {
  /// The options that are declared with `OptionValue`, in the order of their declaration.
  private static var declared: [(key: String, option: any AnyOptionValue)] {
    Mirror(reflecting: Self()).children.compactMap { child in
      guard let label = child.label, let option = child.value as? any AnyOptionValue else {
        return nil
      }
      // The stored property of a wrapper is called `_key`.
      return (String(label.dropFirst()), option)
    }
  }

  public static var explanations: [String: String] {
    Dictionary(declared.map { ($0.key, $0.option.meaning) }, uniquingKeysWith: { $1 })
  }

  /// Checks options in the order of their declaration.
  ///
  /// - Parameter last: The last option to check; all of them if `nil`.
  /// - Throws: `OptionError` for the first one that is not in its range.
  package func checkRanges(through last: String? = nil) throws {
    let values = Mirror(reflecting: self).children
    for (key, option) in Self.declared {
      if let value = values.first(where: { $0.label == "_" + key }) {
        try option.check(value.value, key)
      }
      if key == last { return }
    }
  }
}
