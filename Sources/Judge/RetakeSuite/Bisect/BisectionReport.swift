/// The result of a bisection.
package struct BisectionReport: Hashable, Sendable, Codable {
  /// A commit that was built and tested.
  package struct Step: Hashable, Sendable, Codable {
    package enum Verdict: String, Hashable, Sendable, Codable {
      /// It does not show the root cause.
      case good
      /// It shows the root cause.
      case bad
      /// It could not be built or tested.
      case skipped
    }

    /// Its full hash.
    package var commit: String
    package var subject: String
    package var verdict: Verdict
    /// Why it was skipped, or its other root causes.
    package var detail: String?
  }

  /// The first commit that shows the root cause.
  package struct Commit: Hashable, Sendable, Codable {
    package var hash: String
    package var author: String
    /// ISO 8601.
    package var authorDate: String
    package var subject: String
    /// At most `Bisection.filesMax`.
    package var files: [String]
  }

  /// `session/case`.
  package var key: String
  package var rootCause: String
  /// Full hashes.
  package var good: String
  package var bad: String
  /// Commits after `good`, up to `bad`.
  package var commits: Int
  package var steps: [Step]
  /// `nil` if skipped commits leave several candidates.
  package var first: Commit?
  /// The commits of which one is the first; a single one if it was found.
  package var candidates: [String]
  /// Shows the change.
  package var command: String

  package var builds: Int { steps.count }
}
