package import RetakeGraph

/// The part of a body's outcome on which timing depends.
package enum CompletionOutcome: Hashable, Sendable {
  case success
  case failure(StageError)
}
