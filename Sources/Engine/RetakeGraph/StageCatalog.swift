public import RetakeCore

/// The kinds of nodes that exist. Creates a node's stage from a document's options.
public protocol StageCatalog: Sendable {
  /// In byte order.
  var kinds: [String] { get }
  /// The signature by which a graph checks nodes of this kind; `nil` for an unknown kind.
  func signature(of kind: String) -> StageSignature?
  /// Creates a node's stage.
  ///
  /// - Throws: `OptionProblem`, with a pointer inside the options.
  func make(kind: String, options: JSONValue) throws -> AnyStage
}

/// Reads a stage's options from a document. Every key must be known, and every value must have the
/// type of its default. Options that are not given keep their defaults.
package enum OptionReader {
  package static func read<Options: StageOptions>(
    _ type: Options.Type, from given: JSONValue, kind: String
  ) throws -> Options {
    guard case .object(let members) = given else {
      throw OptionProblem(pointer: "", message: "options must be an object")
    }
    // Given options are put over the encoded defaults, because the decoders that Swift synthesizes
    // require every key, even if the property has a default.
    guard case .object(var complete) = AnyStage.canonical(Options()) else {
      return Options()
    }
    // Sorted, so that every run reports the same one of several wrong options.
    for key in members.keys.sorted() {
      guard let fallback = complete[key] else {
        throw OptionProblem(
          pointer: "/\(key.shortened.pointerEscaped)",
          message: "'\(kind)' has no option '\(key.shortened)'",
          advice: Suggestion.advice(for: key, among: complete.keys.sorted()))
      }
      guard let value = members[key], value.fits(fallback) else {
        throw OptionProblem(
          pointer: "/\(key.pointerEscaped)",
          message: "must be \(fallback.kindText), is \(members[key]?.kindText ?? "missing")")
      }
      complete[key] = value
    }
    do {
      return try JSONValue.object(complete).decode(Options.self)
    } catch let error as DecodingError {
      throw unfit(type, members) ?? OptionProblem(pointer: error.pointer, message: error.shortText)
    } catch {
      throw OptionProblem(pointer: "", message: "\(error)")
    }
  }

  /// The first option that cannot be decoded, for an error that the decoder does not locate: a
  /// fraction instead of an integer.
  private static func unfit<Options: StageOptions>(
    _ type: Options.Type, _ given: [String: JSONValue]
  ) -> OptionProblem? {
    guard case .object(let defaults) = AnyStage.canonical(Options()) else { return nil }
    for key in given.keys.sorted() {
      guard case .integer? = defaults[key], let value = given[key], case .number = value else {
        continue
      }
      // One option at a time, because the decoder's error does not say which one it refused.
      let single = defaults.merging([key: value]) { $1 }
      guard (try? JSONValue.object(single).decode(type)) == nil else { continue }
      return OptionProblem(
        pointer: "/\(key.pointerEscaped)", message: "must be an integer, is a number")
    }
    return nil
  }
}

extension JSONValue {
  /// Whether a value has the right type if `other` is the default.
  fileprivate func fits(_ other: JSONValue) -> Bool {
    switch (self, other) {
    case (.integer, .integer), (.integer, .number), (.number, .number), (.string, .string),
      (.bool, .bool), (.array, .array), (.object, .object):
      true
    // A default such as 1.0 encodes as an integer, so the decoder makes the decision.
    case (.number, .integer): true
    default: false
    }
  }
}
