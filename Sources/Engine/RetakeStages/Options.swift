import RetakeCore
package import RetakeGraph

extension OptionError {
  /// Requires a number to be in a range, inclusive; NaN never is.
  package static func require<Number: Comparable>(
    _ value: Number, _ key: String, in range: ClosedRange<Number>
  ) throws {
    guard !range.contains(value) else { return }
    throw OptionError(
      key: key, message: "must be \(range.lowerBound) to \(range.upperBound), is \(value)")
  }
}

extension KeyedDecodingContainer {
  /// Reads a string that is one of a closed set; the message lists the set.
  package func choice<Value: RawRepresentable & CaseIterable>(
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

extension KeyedDecodingContainer {
  /// The synthesized initializers of options call this one for a closed set.
  package func decode<Value: RawRepresentable & CaseIterable>(
    _ type: OptionValue<Value>.Type, forKey key: Key
  ) throws -> OptionValue<Value> where Value.RawValue == String {
    OptionValue(wrappedValue: try choice(Value.self, forKey: key), "")
  }

  /// Reads an integer inside an option; Foundation's error for a fraction has no position.
  package func integer(forKey key: Key) throws -> Int {
    // JSON has one kind of number, so a fraction is read first and then refused with its place.
    let number = try decode(Double.self, forKey: key)
    guard let value = Int(exactly: number) else {
      throw DecodingError.dataCorruptedError(
        forKey: key, in: self,
        debugDescription: "'\(key.stringValue)' must be an integer, is \(number)")
    }
    return value
  }
}

extension Decoder {
  /// Rejects keys that an object inside the options does not have.
  package func refuseUnknownKeys(_ known: [String]) throws {
    let container = try container(keyedBy: AnyKey.self)
    // `allKeys` has the order of a Dictionary: which key the error names would differ between runs.
    let names = container.allKeys.map(\.stringValue).sorted()
    guard let odd = names.first(where: { !known.contains($0) }) else { return }
    throw DecodingError.dataCorruptedError(
      forKey: AnyKey(stringValue: odd), in: container,
      debugDescription:
        "unknown key '\(odd)'. \(Suggestion.advice(for: odd, among: known.sorted()))")
  }
}

/// Any key of a JSON object.
private struct AnyKey: CodingKey {
  var stringValue: String
  var intValue: Int? { nil }

  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

extension StageDefinition {
  /// Makes a stage in Swift code: see `RetakeStages.built`.
  package static func built(_ options: Options) -> Self {
    RetakeStages.built { try Self(options: options) }
  }
}

/// Makes a stage in Swift code, where an invalid option is a programmer's mistake.
package func built<Stage>(_ make: () throws -> Stage) -> Stage {
  do {
    return try make()
  } catch let error as OptionError {
    requirementFailure("the option '\(error.key)' \(error.message)")
  } catch let error as OptionProblem {
    requirementFailure("\(error.pointer.isEmpty ? "" : "\(error.pointer): ")\(error.message)")
  } catch {
    requirementFailure("\(error)")
  }
}
