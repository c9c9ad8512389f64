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
    // A decision and a value of one stage may differ at one frame: two causes with one id.
    let named = all.indices.filter { id == nil || all[$0].id == id }
    guard !named.isEmpty else {
      throw SuiteError(
        "suite.reduce.noRoot", "the case '\(comparison.key)' has no root cause '\(id ?? "")'",
        advice: "Its root causes are: " + Self.list(all))
    }
    let ofRun = [RootCause.Why.budget, .knownChangeGone]
    let finding = comparison.findings.first { finding in
      finding.root.map { named.contains($0) && !ofRun.contains(all[$0].why) } ?? false
    }
    guard let finding, let index = finding.root else {
      let others = all.filter { !ofRun.contains($0.why) }
      throw SuiteError(
        "suite.reduce.ofRun",
        "the root cause '\(id ?? all[0].id)' is about the whole run, not about frames",
        advice: others.isEmpty
          ? "Attach the session as it is" : "Choose another one: " + Self.list(others))
    }
    (root, self.finding) = (all[index], finding)
  }

  private static func list(_ rootCauses: [RootCause]) -> String {
    rootCauses.prefix(10).map(\.id).joined(separator: ", ")
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
