import RetakeGraph

extension OptionError {
  /// Requires a number to lie in a range, both ends included.
  static func require(
    _ value: Int, _ key: String, in range: ClosedRange<Int>
  ) throws(OptionError) {
    guard !range.contains(value) else { return }
    throw OptionError(
      key: key, message: "must be \(range.lowerBound) to \(range.upperBound), is \(value)")
  }
}

/// Bounds that several stages share.
enum StageLimits {
  /// Pixels, a side.
  static let side = 16_384
}

extension KeyedDecodingContainer {
  /// Reads a word that is one of a closed set; the message lists the set.
  func choice<Value: RawRepresentable & CaseIterable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value where Value.RawValue == String {
    let word = try decode(String.self, forKey: key)
    guard let value = Value(rawValue: word) else {
      let words = Value.allCases.map { "'\($0.rawValue)'" }.joined(separator: ", ")
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self,
        debugDescription: "'\(key.stringValue)' is one of \(words), not '\(word)'")
    }
    return value
  }
}

/// A stage made in Swift code, where a bad option is the programmer's mistake.
func built<Stage>(_ make: () throws -> Stage) -> Stage {
  do {
    return try make()
  } catch let error as OptionError {
    preconditionFailure("the option '\(error.key)' \(error.message)")
  } catch let error as OptionProblem {
    preconditionFailure("\(error.pointer.isEmpty ? "" : "\(error.pointer): ")\(error.message)")
  } catch {
    preconditionFailure("\(error)")
  }
}
