import RetakeCore

/// An option in a document that cannot be used, with its pointer inside the options object.
public struct OptionProblem: Error, Sendable, Hashable {
  /// Such as `/threshold`; empty for the options object itself.
  public var pointer: String
  /// The problem in a few words, such as `must be an integer, is a string`.
  public var message: String
  /// The correction; `nil` if the message says enough.
  public var advice: String?
  /// The code of the error that the stage threw, if that error has one.
  package var code: String?

  /// For a catalog that reads options by itself; the errors of stages are `OptionError`.
  package init(pointer: String, message: String, advice: String? = nil, code: String? = nil) {
    self.pointer = pointer
    self.message = message
    self.advice = advice
    self.code = code
  }
}
