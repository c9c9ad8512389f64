import RetakeCore
import RetakeRuntime

/// Tells of the failures of a run as they happen: of each stage and code the first few, and how many
/// more there were at the end.
public final class FailureLog: RunObserver {
  /// Of each stage and code.
  public static let toldMax = 3

  private struct Kind: Hashable {
    var node: String
    var code: String
  }

  private let tell: (String) -> Void
  private var counts: [Kind: Int] = [:]
  /// In the order in which they first failed.
  private var kinds: [Kind] = []

  /// - Parameter tell: Called on the thread that runs, with one line.
  public init(_ tell: @escaping (String) -> Void) {
    self.tell = tell
  }

  public func failed(_ failure: StageFailure) {
    guard failure.isRecoverable else { return }
    let kind = Kind(node: failure.node, code: failure.code)
    let count = counts[kind, default: 0] + 1
    if count == 1 { kinds.append(kind) }
    counts[kind] = count
    if count <= Self.toldMax { tell("warning: \(failure)") }
  }

  public func finished(_ frame: FinishedFrame) {}

  /// Says what was not told; once, when the run has ended.
  public func finish() {
    for kind in kinds {
      let more = counts[kind, default: 0] - Self.toldMax
      guard more > 0 else { continue }
      tell("warning: stage \(kind.node) failed \(more) more times [\(kind.code)]")
    }
  }
}

extension RunSummary {
  /// Failures that halted nothing, one line for each stage and code, in the order in which they
  /// first failed.
  package func failureLines(
    where isWanted: (StageFailure) -> Bool = { _ in true }
  ) -> [String] {
    let kept = failures ?? []
    return kept.filter { $0.isRecoverable && isWanted($0) }
      .lines(isWhole: kept.count == failureCount)
  }
}

extension RunOutcome {
  /// Failures that halted nothing, one line for each stage and code, in the order in which they
  /// first failed.
  package var failureLines: [String] {
    failures.filter(\.isRecoverable).lines(isWhole: failures.count == failureCount)
  }
}

extension [StageFailure] {
  /// - Parameter isWhole: Whether these are all that there were.
  fileprivate func lines(isWhole: Bool) -> [String] {
    var first: [StageFailure] = []
    var counts: [Int] = []
    for failure in self {
      let known = first.firstIndex { $0.node == failure.node && $0.code == failure.code }
      guard let known else {
        first.append(failure)
        counts.append(1)
        continue
      }
      counts[known] += 1
    }
    return zip(first, counts).map { failure, count in
      guard count > 1 else { return "\(failure)" }
      return "\(failure); it failed \(isWhole ? "" : "at least ")\(count) times"
    }
  }
}
