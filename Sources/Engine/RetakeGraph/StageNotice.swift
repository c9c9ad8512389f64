package import RetakeCore

/// Something that a user should know about a stage, and that changes no result.
package struct StageNotice: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Something went wrong, and was repaired.
    case repaired
    /// A value is not there yet. That matters only where frames do not wait.
    case slow
  }

  package var kind: Kind
  /// In the form of a failure, which names the frame and the stage. The run has not failed.
  package var failure: StageFailure

  package init(_ kind: Kind, _ failure: StageFailure) {
    (self.kind, self.failure) = (kind, failure)
  }
}
