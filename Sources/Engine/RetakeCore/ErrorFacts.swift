/// All that is said about one error, in one place; thrown as it is where no caller looks for a
/// case.
package struct ErrorFacts: RetakeError, Hashable {
  /// The errors that a caller handles in a special way.
  package enum Kind: Hashable, Sendable {
    /// An error without a special kind.
    case error
    /// The arguments are wrong, on every machine.
    case usage
    /// There was not enough memory. The input may be correct.
    case memory
    /// No item matched the request.
    case nothingSelected
    /// The user stopped the work.
    case interrupted
  }

  /// See `CodedError.code`, and so on.
  package var code: String
  package var message: String
  package var cause: String?
  package var place: Place?
  package var advice: String?
  package var kind: Kind

  package var facts: ErrorFacts { self }

  package init(
    _ code: String, _ message: String, cause: String? = nil, place: Place?,
    advice: String? = nil, kind: Kind = .error
  ) {
    self.code = code
    self.message = message
    self.cause = cause
    self.place = place
    self.advice = advice
    self.kind = kind
  }

  /// The place consists of `file`, `frame` and `pointer`, as far as they are not `nil`.
  package init(
    _ code: String, _ message: String, cause: String? = nil, at file: String? = nil,
    frame: FrameID? = nil, pointer: String? = nil, advice: String? = nil, kind: Kind = .error
  ) {
    let place = Place(file: file, frame: frame, pointer: pointer)
    self.init(
      code, message, cause: cause, place: place == Place() ? nil : place, advice: advice,
      kind: kind)
  }
}

// A public error declares these properties again, because users cannot see this protocol.
extension Error {
  /// The facts of an error of this package; of others only the message.
  package var facts: ErrorFacts {
    (self as? any RetakeError)?.facts ?? ErrorFacts("internal.unexpected", causeText)
  }

  /// Whether an error of this package is a lack of memory. Such an error does not mean that the
  /// input is wrong.
  package var isAboutMemory: Bool { (self as? any RetakeError)?.facts.kind == .memory }
}
