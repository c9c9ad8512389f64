/// A stage's options contradict each other or are out of range.
public struct OptionError: Error, Sendable {
  /// The option's key.
  public var key: String
  /// The problem, such as "must be at least 1".
  public var message: String

  /// Thrown from `StageDefinition.init(options:)`. A document's error then points to the option.
  public init(key: String, message: String) {
    self.key = key
    self.message = message
  }
}
