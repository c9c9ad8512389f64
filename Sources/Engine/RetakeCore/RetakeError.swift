/// An error of this package: one switch over its cases gives all facts of each.
package protocol RetakeError: CodedError {
  var facts: ErrorFacts { get }
}

extension RetakeError {
  public var code: String { facts.code }
  public var message: String { facts.message }
  public var cause: String? { facts.cause }
  public var place: Place? { facts.place }
  public var advice: String? { facts.advice }
}
