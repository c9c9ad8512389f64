package import RetakeCore

/// Failures by stage and code, in the order in which each kind occurred first.
struct FailureTally: Sendable {
  private struct Kind: Hashable, Sendable {
    var node: String
    var code: String
  }

  private(set) var entries: [(first: StageFailure, count: Int)] = []
  private var places: [Kind: Int] = [:]

  /// - Returns: The number of failures of this kind so far.
  @discardableResult
  mutating func note(_ failure: StageFailure) -> Int {
    let kind = Kind(node: failure.node, code: failure.code)
    guard let place = places[kind] else {
      places[kind] = entries.count
      entries.append((failure, 1))
      return 1
    }
    entries[place].count += 1
    return entries[place].count
  }

  /// The number of failures of this kind.
  func count(of failure: StageFailure) -> Int {
    places[Kind(node: failure.node, code: failure.code)].map { entries[$0].count } ?? 0
  }
}

extension RunSummary {
  /// Failures that did not halt the run, one line for each stage and code, in the order in which
  /// they first failed.
  package func failureLines(
    where isWanted: (StageFailure) -> Bool = { _ in true }
  ) -> [String] {
    let kept = failures ?? []
    return kept.filter { $0.isRecoverable && isWanted($0) }
      // A summary has the first failures only (`failuresMax`), so with more the numbers are lower
      // bounds.
      .lines(isWhole: kept.count == failureCount)
  }
}

extension [StageFailure] {
  /// - Parameter isWhole: Whether these are all failures of the run.
  fileprivate func lines(isWhole: Bool) -> [String] {
    var tally = FailureTally()
    for failure in self { tally.note(failure) }
    return tally.entries.map { failure, count in
      guard count > 1 else { return "\(failure)" }
      return "\(failure); it failed \(isWhole ? "" : "at least ")\(count) times"
    }
  }
}
