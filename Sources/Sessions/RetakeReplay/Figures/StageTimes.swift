import RetakeCore
package import RetakeRuntime
package import RetakeTimePlane

/// The durations of the bodies of stages on this machine, in a run that measures them.
///
/// Holds 8 bytes for each measured body and for each frame. The number of bodies is the number of
/// the session's frames, times the stages and items of each frame.
package final class StageTimes: RunObserver {
  package struct Times: Hashable, Sendable, Codable {
    /// Bodies, or frames.
    package var count: Int
    package var meanNanoseconds: Int64
    package var p50Nanoseconds: Int64
    package var p99Nanoseconds: Int64
    package var maxNanoseconds: Int64

    /// `nil` for no times. Percentiles are by nearest rank.
    init?(_ all: [Int64]) {
      let sorted = all.sorted()
      guard let p50 = sorted.nearestRank(percent: 50), let p99 = sorted.nearestRank(percent: 99),
        let max = sorted.last
      else { return nil }
      count = sorted.count
      // The sum is processor time of one run, which does not overflow in 292 years.
      meanNanoseconds = sorted.reduce(0, +) / Int64(sorted.count)
      (p50Nanoseconds, p99Nanoseconds, maxNanoseconds) = (p50, p99, max)
    }
  }

  package struct Stage: Hashable, Sendable, Codable {
    package var node: String
    package var times: Times
  }

  /// The figures of a run, as `stageTimes` in its summary.
  package struct Totals: Hashable, Sendable, Codable {
    /// In the order in which frames reach them.
    package var stages: [Stage]
    /// All bodies of one frame together.
    package var frames: Times
  }

  private var nodes: [String] = []
  private var bodies: [String: [Int64]] = [:]
  /// Frames whose bodies may still be measured, with the sum so far.
  private var open: [FrameID: Int64] = [:]
  private var frames: [Int64] = []

  package init() {}

  package func began(nodes: [RunNode]) { self.nodes = nodes.map(\.id) }

  package func measured(_ span: CostSpan) {
    let nanoseconds = span.endNanoseconds - span.startNanoseconds
    bodies[span.node, default: []].append(nanoseconds)
    open[span.frame, default: 0] += nanoseconds
  }

  package func finished(_ frame: FinishedFrame) {
    // A frame that reached no stage took no time, and is not counted.
    if let nanoseconds = open.removeValue(forKey: frame.result.id) { frames.append(nanoseconds) }
  }

  /// The figures when the run has ended; `nil` if no body was measured.
  package var totals: Totals? {
    guard let frames = Times(frames) else { return nil }
    let stages = nodes.compactMap { node in
      Times(bodies[node] ?? []).map { Stage(node: node, times: $0) }
    }
    return Totals(stages: stages, frames: frames)
  }
}
