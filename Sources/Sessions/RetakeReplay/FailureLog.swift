package import RetakeCore
package import RetakeRuntime

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

/// Reports the failures of a run as they happen: the first few of each stage and code. At the end
/// it reports how many more there were.
package final class FailureLog: RunObserver {
  /// Per stage and code.
  package static let toldMax = 3

  private let tell: (String) -> Void
  private var tally = FailureTally()

  /// - Parameter tell: Called on the thread of the run, with one line.
  package init(_ tell: @escaping (String) -> Void) {
    self.tell = tell
  }

  package func failed(_ failure: StageFailure) {
    // An unrecoverable failure halts the run, and the summary names it as `halt`.
    guard failure.isRecoverable else { return }
    if tally.note(failure) <= Self.toldMax { tell("warning: \(failure)") }
  }

  package func finished(_ frame: FinishedFrame) {}

  /// Reports the number of failures that were not reported. Call it once, when the run has ended.
  package func finish() {
    for (first, count) in tally.entries where count > Self.toldMax {
      tell(Self.rest(of: first, count: count - Self.toldMax))
    }
  }

  /// The message about failures that were not reported one by one.
  ///
  /// - Parameter isExact: Whether `count` is their number, rather than the least that it can be.
  static func rest(of first: StageFailure, count: Int, isExact: Bool = true) -> String {
    let number = "\(isExact ? "" : "at least ")\(count) more time\(count == 1 ? "" : "s")"
    return "warning: stage \(first.node) failed \(number) [\(first.code)]"
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
