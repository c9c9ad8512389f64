import RetakeBuffers
import RetakeCore
import RetakeGraph

/// Searches the options of an adaptive pool. For each family of loads, the search chooses the
/// options that are best on the other families, and reports their results on this family.
package struct PoolTuning: Sendable {
  /// The highest mean size allowed, in hundredths of a buffer over time: 58 of 96 MB, of 16
  /// buffers.
  package static let meanHundredthsMax = 967

  /// One family of loads that was not used for tuning.
  package struct Fold: Encodable, Sendable {
    package var judgedOn: String
    /// The chosen options, as a pipeline document writes them.
    package var adaptive: String
    /// How many candidates kept within the mean on every load that they were tuned on.
    package var candidatesWithinMean: Int
    package var candidates: Int
    /// The results on the family: of the chosen pool, and of a fixed pool of 16.
    package var chosen: [PoolFigures]
    package var fixed16: [PoolFigures]
    /// Whether, on each load, it stalls at most as often as the fixed pool and keeps the mean
    /// within its bound.
    package var meetsGoal: Bool
  }

  package private(set) var folds: [Fold] = []

  /// - Parameter isInterrupted: Checked between trials.
  /// - Throws: `suite.bench.oneFamily`; what a trial throws.
  package init(_ loads: [PoolLoad], isInterrupted: () -> Bool = { false }) throws {
    // Memory pressure removes buffers on purpose, so loads with events are not used for tuning.
    let loads = loads.filter { $0.events.isEmpty }
    let families = loads.map(\.family).uniqued()
    guard families.count > 1 else {
      throw BenchError(
        "suite.bench.oneFamily",
        families.isEmpty
          ? "options are tuned on loads without events, but every load has events"
          : "options are tuned on one family of loads and judged on another, "
            + "and there is only '\(families[0])'",
        advice: "Add a load without events of another 'family' with --load, or leave --load out")
    }
    let fixed = try PoolTable(
      loads, [PoolContender("fixed 16", capacity: 16)], isInterrupted: isInterrupted
    ).rows
    // Every candidate runs once on every load; the folds only choose among these figures.
    let tried = try Self.candidates.map { sizing in
      try PoolTable(
        loads, [PoolContender("tuned", capacity: 8, adaptive: sizing)],
        isInterrupted: isInterrupted
      ).rows
    }
    for family in families {
      let here = loads.indices.filter { loads[$0].family == family }
      let there = loads.indices.filter { loads[$0].family != family }
      let scores = tried.map { Score($0, fixed, there) }
      // `min` returns the first of equal scores, so the choice is the same in every run.
      guard let best = scores.indices.min(by: { scores[$0] < scores[$1] }) else { continue }
      let judged = Score(tried[best], fixed, here)
      folds.append(
        Fold(
          judgedOn: family, adaptive: Self.candidates[best].json.canonicalText,
          candidatesWithinMean: scores.count { $0.meanExcess == 0 },
          candidates: scores.count, chosen: here.map { tried[best][$0] },
          fixed16: here.map { fixed[$0] },
          meetsGoal: judged.meanExcess == 0 && judged.stallExcess == 0))
    }
  }

  /// The candidates: 144 policies between 4, 6 or 8 and 12 buffers.
  static var candidates: [PoolSizing] {
    var found: [PoolSizing] = []
    for floor in [4, 6, 8] {
      for predictor in [PoolSizing.Predictor.ewma, .ar1] {
        for alpha in [300, 1_000] {
          for above in [50, 75] {
            for below in [25, 50] {
              for after in [3, 10] {
                for off in [Set<PoolSizing.Policy>(), [.breaker]] {
                  var sizing = PoolSizing()
                  (sizing.min, sizing.predictor, sizing.alphaPermille) = (floor, predictor, alpha)
                  (sizing.expandAbove, sizing.shrinkBelow) = (above, below)
                  (sizing.shrinkAfter, sizing.off) = (after, off)
                  if above > below { found.append(sizing) }
                }
              }
            }
          }
        }
      }
    }
    return found
  }

  /// Compares by the mean first, then by stalls in excess of the fixed pool's stalls, then by all
  /// stalls, then by memory.
  private struct Score: Comparable {
    var meanExcess = 0
    var stallExcess = 0
    var stalls = 0
    var mean = 0

    init(_ rows: [PoolFigures], _ fixed: [PoolFigures], _ places: [Int]) {
      for place in places {
        meanExcess += max(0, rows[place].meanBuffersHundredths - PoolTuning.meanHundredthsMax)
        stallExcess += max(0, rows[place].stalls - fixed[place].stalls)
        stalls += rows[place].stalls
        mean += rows[place].meanBuffersHundredths
      }
    }

    static func < (left: Score, right: Score) -> Bool {
      (left.meanExcess, left.stallExcess, left.stalls, left.mean)
        < (right.meanExcess, right.stallExcess, right.stalls, right.mean)
    }
  }

  /// A report for people.
  package var text: String {
    folds.map { fold in
      let rows = zip(fold.chosen, fold.fixed16).map { chosen, fixed in
        "  \(chosen.load): \(chosen.stalls) stalls (fixed 16: \(fixed.stalls)), mean "
          + "\(FixedPoint.padded(chosen.meanBuffersHundredths, digits: 2))"
      }
      return
        ([
          "\(fold.judgedOn): \(fold.meetsGoal ? "the goal is met" : "the goal is missed") with "
            + fold.adaptive,
          "  \(fold.candidatesWithinMean) of \(fold.candidates) candidates kept within the mean on "
            + "the other families",
        ] + rows).joined(separator: "\n")
    }.joined(separator: "\n")
  }
}

extension [String] {
  /// Each element once, at its first position.
  fileprivate func uniqued() -> [String] {
    reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
  }
}
