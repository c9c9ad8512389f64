import RetakeCore
import RetakeReplay
import RetakeRuntime

/// Runs a case again and again under conditions that must not matter.
public struct Verification {
  /// One way of running a case.
  public struct Condition: Hashable, Sendable {
    public var name: String
    public var workers: Int
    public var perturbation: UInt64?
    /// Recycled memory is filled with a pattern before it is used again.
    public var poisonsMemory = false
  }

  /// The conditions under which a case is run again, after a first run with two workers.
  public static let conditions = [
    Condition(name: "no workers", workers: 0),
    Condition(name: "1 worker", workers: 1),
    Condition(name: "2 workers, random delays", workers: 2, perturbation: 1),
    Condition(name: "2 workers, poisoned memory", workers: 2, poisonsMemory: true),
    Condition(name: "4 workers", workers: 4),
    Condition(name: "4 workers, random delays", workers: 4, perturbation: 2),
    Condition(name: "8 workers, random delays", workers: 8, perturbation: 3),
  ]

  private static let first = Condition(name: "2 workers", workers: 2)

  private let makeReplay: (Condition) throws -> Replay
  private let progress: (Int, Int) -> Void

  /// - Parameters:
  ///   - makeReplay: Makes the case afresh for a condition.
  ///   - progress: Told of finished runs, and of how many there are.
  public init(
    makeReplay: @escaping (Condition) throws -> Replay,
    progress: @escaping (Int, Int) -> Void = { _, _ in }
  ) {
    self.makeReplay = makeReplay
    self.progress = progress
  }

  /// - Throws: What a run throws.
  public func run() throws -> VerifyReport {
    let total = Self.conditions.count + 1
    let (expected, summary, request) = try trace(Self.first)
    progress(1, total)
    var report = VerifyReport(
      session: request.sessionName, caseName: request.caseName, frames: expected.frames.count,
      decisionDigest: summary.decisionDigest, resultDigest: summary.resultDigest, variations: [])
    for (index, condition) in Self.conditions.enumerated() {
      let (actual, summary, _) = try trace(condition)
      report.variations.append(
        VerifyReport.Variation(
          name: condition.name, workers: condition.workers,
          decisionDigest: summary.decisionDigest, resultDigest: summary.resultDigest,
          divergence: TraceComparison(expected: expected, actual: actual).divergence))
      progress(index + 2, total)
    }
    return report
  }

  private func trace(_ condition: Condition) throws -> (RunTrace, RunSummary, Replay.Request) {
    let replay = try makeReplay(condition)
    let trace = RunTrace()
    let summary = try replay.run(observers: [trace])
    return (trace, summary, replay.request)
  }
}
