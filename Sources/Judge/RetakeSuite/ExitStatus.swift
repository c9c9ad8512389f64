import RetakeCompare

/// The exit status of a command, for scripts.
package enum ExitStatus: Int32, Sendable, CaseIterable, Codable {
  case passed = 0
  case regression = 1
  /// The job could not be done.
  case error = 2
  /// A golden is missing or not accepted.
  case missingGolden = 3
  /// Nothing was selected or compared.
  case nothingCompared = 4
  /// A golden is stale, or cannot be compared.
  case staleOrNotComparable = 5
  /// The command line is wrong.
  case usage = 64
  /// A case killed its process twice, and the shard's other cases have results.
  case poisoned = 65
  /// A session or a disk cannot be read or written, for a reason outside of the test.
  case infrastructure = 75
  case interrupted = 130

  /// Strongest first.
  private static let precedence: [ExitStatus] = [
    .interrupted, .usage, .infrastructure, .poisoned, .error, .regression, .staleOrNotComparable,
    .missingGolden, .nothingCompared, .passed,
  ]

  /// Combines several statuses into one: the strongest.
  package static func strongest(_ statuses: some Sequence<ExitStatus>) -> ExitStatus? {
    let all = Set(statuses)
    return precedence.first { all.contains($0) }
  }

  /// The meaning in words, for reports.
  package var meaning: String {
    switch self {
    case .passed: "passed"
    case .regression: "a result changed"
    case .error: "the job could not be done"
    case .missingGolden: "a golden is missing or not accepted"
    case .nothingCompared: "no case was selected or compared"
    case .staleOrNotComparable: "a golden is stale or cannot be compared"
    case .usage: "the command line is wrong"
    case .poisoned: "a case killed its process twice"
    case .infrastructure: "a session or a disk cannot be read"
    case .interrupted: "interrupted"
    }
  }
}

extension Verdict {
  /// The status of a case with this verdict. Outside CI, a stale golden is only a warning.
  package func exitStatus(isCI: Bool) -> ExitStatus {
    switch self {
    case .passed: .passed
    case .changed: .regression
    case .missing: .missingGolden
    case .stale: isCI ? .staleOrNotComparable : .passed
    case .notComparable: .staleOrNotComparable
    case .errored: .error
    }
  }
}
