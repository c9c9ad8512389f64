/// An error of this package, with all facts in one value.
package protocol RetakeError: CodedError {
  var facts: ErrorFacts { get }
}

/// A module's error that is nothing but its facts. The code that throws it states them; an error
/// that several places throw, or a test names, has a static function.
package protocol FactualError: RetakeError, Hashable {
  init(facts: ErrorFacts)
}

extension FactualError {
  /// The place is made of the parts that are not nil.
  package init(
    _ code: String, _ message: String, cause: String? = nil, at file: String? = nil,
    frame: FrameID? = nil, pointer: String? = nil, advice: String? = nil,
    kind: ErrorFacts.Kind = .error
  ) {
    self.init(
      facts: ErrorFacts(
        code, message, cause: cause, at: file, frame: frame, pointer: pointer, advice: advice,
        kind: kind))
  }
}

extension RetakeError {
  /// The code of `facts`.
  public var code: String { facts.code }
  /// The message of `facts`.
  public var message: String { facts.message }
  /// The cause of `facts`; `nil` if the message says enough.
  public var cause: String? { facts.cause }
  /// The place of `facts`; `nil` for an error without a place.
  public var place: Place? { facts.place }
  /// The advice of `facts`; `nil` for an error without advice.
  public var advice: String? { facts.advice }
}
