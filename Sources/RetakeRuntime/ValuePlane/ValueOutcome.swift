import RetakeCore
import RetakeGraph

/// What became of one computation.
package enum ValueOutcome: Sendable {
  case value(any PipelineValue)
  /// A frame whose pixels are made where somebody reads them, or go when all have.
  case later(LaterFrame)
  case failure(StageError)
  /// The engine or the session is broken: the run cannot go on.
  case fault(any Error)
  /// Nobody needs it any more.
  case cancelled

  /// XXH3-128 of the value's canonical bytes, or of the failure's code; `nil` if there is none.
  package var digest: Digest128? {
    switch self {
    case .value(let value): value.digest
    case .later(let frame): frame.digest
    case .failure(let error): Digest128(of: error.code)
    case .fault, .cancelled: nil
    }
  }

  /// With its pixels.
  package var resolved: ValueOutcome {
    if case .later(let frame) = self { frame.outcome } else { self }
  }
}

/// The outcomes of a future's inputs, in their order; they are all there when it runs.
package struct InputOutcomes: RandomAccessCollection, Sendable {
  private let inputs: [ValueFuture]

  init(_ inputs: [ValueFuture]) {
    self.inputs = inputs
  }

  package var startIndex: Int { 0 }
  package var endIndex: Int { inputs.count }

  /// With its pixels.
  package subscript(position: Int) -> ValueOutcome { unresolved(position).resolved }

  package func unresolved(_ position: Int) -> ValueOutcome {
    guard let outcome = inputs[position].outcome else {
      preconditionFailure("a future runs when all its inputs are done")
    }
    return outcome
  }
}
