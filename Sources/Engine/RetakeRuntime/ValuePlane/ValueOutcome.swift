package import RetakeCore
package import RetakeGraph

/// The outcome of one computation.
package enum ValueOutcome: Sendable {
  case value(any PipelineValue)
  /// A frame whose pixels are made at the first read, or are released after the last.
  case later(LaterFrame)
  case failure(StageError)
  /// The engine or the session is broken: the run cannot continue.
  case fault(any Error)
  /// The value is no longer needed.
  case cancelled

  /// XXH3-128 of the value's canonical bytes, or of the failure's code; `nil` for an outcome
  /// without either.
  package var digest: Digest128? {
    switch self {
    case .value(let value): value.digest
    case .later(let frame): frame.digest
    case .failure(let error): Digest128(of: error.code)
    case .fault, .cancelled: nil
    }
  }

  /// The outcome with its pixels.
  package var resolved: ValueOutcome {
    if case .later(let frame) = self { frame.outcome } else { self }
  }
}

/// The outcomes of a future's inputs, in order. All of them exist when the future runs.
package struct InputOutcomes: RandomAccessCollection, Sendable {
  private let inputs: [ValueFuture]

  init(_ inputs: [ValueFuture]) {
    self.inputs = inputs
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { inputs.count }

  /// The outcome with its pixels.
  package subscript(position: Int) -> ValueOutcome { unresolved(position).resolved }

  package func unresolved(_ position: Int) -> ValueOutcome {
    guard let outcome = inputs[position].outcome else {
      preconditionFailure("a future runs when all its inputs are done")
    }
    return outcome
  }
}
