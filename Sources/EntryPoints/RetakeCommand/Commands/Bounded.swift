import ArgumentParser
import Retake

/// Parsers for numbers with bounds, for options that accept any argument that follows. The error
/// for an invalid number names the allowed range.
enum Bounded {
  /// A number that no integer holds, which is in no range, is too large rather than not a number.
  private static func problem(_ text: String, _ other: String) -> ValidationError {
    let isNumber = !text.isEmpty && text.allSatisfy { $0.isASCII && $0.isNumber }
    return ValidationError(isNumber && UInt64(text) == nil ? "it is too large" : other)
  }

  static func whole(_ range: ClosedRange<Int>) -> @Sendable (String) throws -> Int {
    { text in
      guard let value = Int(text), range.contains(value) else {
        throw ValidationError(
          "it is not between \(range.lowerBound) and \(range.upperBound) (whole numbers)")
      }
      return value
    }
  }

  static let workers = whole(RunOptions.workersRange)

  /// For values counted from a first number on.
  static func whole(from first: Int) -> @Sendable (String) throws -> Int {
    { text in
      guard let value = Int(text), value >= first else {
        throw problem(text, "it is not a whole number, \(first) or more")
      }
      return value
    }
  }

  static func any() -> @Sendable (String) throws -> Int {
    { text in
      guard let value = Int(text) else { throw problem(text, "it is not a whole number") }
      return value
    }
  }

  static let seed: @Sendable (String) throws -> UInt64 = { text in
    guard let value = UInt64(text) else {
      throw problem(text, "it is not a whole number, 0 or more")
    }
    return value
  }

  static func seconds(_ range: ClosedRange<Double>) -> @Sendable (String) throws -> Double {
    { text in
      guard let value = Double(text), range.contains(value) else {
        throw ValidationError(
          "it is not between \(Int(range.lowerBound)) and \(Int(range.upperBound)) seconds")
      }
      return value
    }
  }
}
