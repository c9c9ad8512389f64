import RetakeCore

/// The fields in which two JSON values differ.
struct JSONDifferences {
  /// A field by its JSON pointer (RFC 6901), and its two values.
  struct Field {
    var pointer: String
    var golden: JSONValue?
    var actual: JSONValue?
    /// The error of a number.
    var error: ErrorMeter.Measured?

    /// `"at /speed: 13 instead of 12"`.
    var words: String {
      "at \(pointer.isEmpty ? "its root" : pointer): "
        + "\(Self.excerpt(actual)) instead of \(Self.excerpt(golden))"
    }

    private static func excerpt(_ value: JSONValue?) -> String {
      guard let text = value?.canonicalText else { return "no field" }
      return text.count > shownMax ? "\(text.prefix(shownMax))…" : text
    }

    /// The most characters that are shown of each value.
    private static let shownMax = 32
  }

  /// In the order of the fields: keys by their bytes, elements by their index.
  private(set) var fields: [Field] = []
  private let measure: (Double, Double) -> ErrorMeter.Measured

  /// - Parameter measure: Judges two numbers that differ.
  init(
    _ golden: JSONValue, _ actual: JSONValue,
    measure: @escaping (Double, Double) -> ErrorMeter.Measured
  ) {
    self.measure = measure
    compare(golden, actual, at: "")
  }

  private mutating func compare(_ golden: JSONValue?, _ actual: JSONValue?, at pointer: String) {
    guard golden != actual else { return }
    switch (golden, actual) {
    case (.object(let mine)?, .object(let theirs)?):
      let keys = Set(mine.keys).union(theirs.keys)
      for key in keys.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
        let escaped = key.replacing("~", with: "~0").replacing("/", with: "~1")
        compare(mine[key], theirs[key], at: "\(pointer)/\(escaped)")
      }
    case (.array(let mine)?, .array(let theirs)?):
      for index in 0..<max(mine.count, theirs.count) {
        compare(
          index < mine.count ? mine[index] : nil, index < theirs.count ? theirs[index] : nil,
          at: "\(pointer)/\(index)")
      }
    default:
      guard let left = golden?.plainNumber, let right = actual?.plainNumber else {
        fields.append(Field(pointer: pointer, golden: golden, actual: actual))
        return
      }
      let error = measure(left, right)
      guard !error.isAllowed || error.error == 0 else { return }
      // Integers that no Double tells apart have the error 0, and differ.
      fields.append(Field(pointer: pointer, golden: golden, actual: actual, error: error))
    }
  }
}

extension JSONValue {
  fileprivate var plainNumber: Double? {
    switch self {
    case .integer(let value): Double(value)
    case .number(let value): value
    default: nil
    }
  }
}
