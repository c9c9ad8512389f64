/// An error of this package: one switch over its cases returns all facts of each case.
package protocol RetakeError: CodedError {
  var facts: ErrorFacts { get }
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
