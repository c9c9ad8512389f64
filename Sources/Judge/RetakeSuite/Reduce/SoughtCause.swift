import RetakeCompare
import RetakeCore

/// A root cause that a reduced session must show.
struct SoughtCause: Hashable {
  let root: RootCause
  /// The first finding that follows from it. A root cause without one changes no verdict.
  let finding: Finding

  /// - Parameter id: As `retake test` prints it; `nil` means the first divergence.
  /// - Throws: `SuiteError` with a code `suite.reduce.…`.
  init(_ id: String?, of comparison: Comparison) throws {
    guard comparison.verdict == .changed else {
      throw Self.notChanged(comparison)
    }
    let all = comparison.rootCauses
    guard let index = all.firstIndex(where: { $0.id == id ?? $0.id }) else {
      throw SuiteError(
        "suite.reduce.noRoot", "the case '\(comparison.key)' has no root cause '\(id ?? "")'",
        advice: "Its root causes are: " + all.prefix(10).map(\.id).joined(separator: ", "))
    }
    let root = all[index]
    guard root.why != .budget, root.why != .knownChangeGone,
      let first = comparison.findings.first(where: { $0.root == index })
    else {
      throw SuiteError(
        "suite.reduce.ofRun",
        "the root cause '\(root.id)' is about the whole run, not about frames",
        advice: "Choose another one: "
          + all.map(\.id).filter { $0 != root.id }.prefix(10)
          .joined(separator: ", "))
    }
    (self.root, finding) = (root, first)
  }

  private static func notChanged(_ comparison: Comparison) -> SuiteError {
    let why = comparison.reasons.first.map { ": \($0)" } ?? ""
    return SuiteError(
      "suite.reduce.notChanged",
      "the case '\(comparison.key)' has no difference to reduce (\(comparison.verdict.rawValue)\(why))",
      advice: "Name a case whose result changed; see them with: retake test")
  }

  /// The same cause with the same effect at the same frames.
  ///
  /// - Parameter first: By track, the sequence at which the compared session begins.
  func index(in comparison: Comparison, first: [Int: Int]) -> Int? {
    func moved(_ frame: FrameID?) -> FrameID? {
      frame.map { FrameID(track: $0.track, sequence: $0.sequence - (first[$0.track] ?? 0)) }
    }
    guard comparison.verdict == .changed,
      let index = comparison.rootCauses.firstIndex(where: {
        $0.stage == root.stage && $0.why == root.why && $0.frame == moved(root.frame)
      })
    else { return nil }
    let isShown = comparison.findings.contains {
      $0.root == index && $0.kind == finding.kind && $0.node == finding.node
        && $0.frame == moved(finding.frame)
    }
    return isShown ? index : nil
  }
}
