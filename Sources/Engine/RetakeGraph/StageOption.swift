package import RetakeCore

/// An option of a kind of node, as `retake pipeline stages` lists it.
package struct StageOption: Hashable, Sendable {
  package var name: String
  /// The value for a node that does not set the option; `nil` if there is no default.
  package var defaultValue: JSONValue?
  /// One line with the unit and the range; `nil` if the stage has no explanation.
  package var explanation: String?

  package init(_ name: String, defaultValue: JSONValue?, explanation: String?) {
    (self.name, self.defaultValue, self.explanation) = (name, defaultValue, explanation)
  }

  /// All options of a type, in the order of their names.
  package static func all<Options: StageOptions>(of type: Options.Type) -> [StageOption] {
    guard case .object(let defaults) = AnyStage.canonical(Options()) else { return [] }
    return defaults.keys.sorted().map {
      StageOption($0, defaultValue: defaults[$0], explanation: type.explanations[$0])
    }
  }
}
