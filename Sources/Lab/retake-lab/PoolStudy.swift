/// A question about pools that more than one row of figures answers.
enum PoolStudy: String, CaseIterable, Sendable {
  /// How often a change of size is undone, with and without hysteresis.
  case swing
  /// Packets that wait for a link with a changing bandwidth.
  case packets
  /// Buffers that cannot be made, in thousands of sessions.
  case failures
  /// Whether the article's figures can be reached, over a grid of loads and policies.
  case goal
  /// The three predictors on loads that were not used to choose any of them.
  case predictors
  /// Real time and real memory, on this machine.
  case measured
}

extension PoolStudy {
  /// - Parameter isInterrupted: Checked between trials.
  /// - Throws: `RuntimeError.interrupted`, and the error of a run.
  func run(isInterrupted: () -> Bool = { false }) throws -> PoolStudyResult {
    switch self {
    case .swing: try PoolSwing(isInterrupted: isInterrupted).result
    case .packets: try PoolPackets(isInterrupted: isInterrupted).result
    case .failures: try PoolFailures(isInterrupted: isInterrupted).result
    case .goal: try PoolGoal(isInterrupted: isInterrupted).result
    case .predictors: try PoolHeldOut(isInterrupted: isInterrupted).result
    case .measured: try PoolMeasured().result
    }
  }
}
