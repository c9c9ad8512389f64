import Foundation
import RetakeBench
import RetakeBuffers
import RetakeRuntime

/// Pools of packets that wait for a link with a changing bandwidth: the packets that adaptive pools
/// lose, compared with a fixed pool of 8.
struct PoolPackets: Sendable {
  /// The pools that run with the packet loads; the others are compared with the first.
  static var contenders: [PoolContender] {
    [PoolContender("fixed 8", capacity: 8), PoolContender("fixed 16", capacity: 16)]
      + PoolSizing.Predictor.allCases.map { .unbroken(to: 16, $0) }
  }

  struct Row: Sendable {
    var load: String
    var pool: String
    var outcome: PoolSimulation.Outcome
    /// How many more packets it loses than the fixed pool of 8, in percent, rounded to the nearest;
    /// `nil` if the fixed pool loses no packet.
    var change: Int?
  }

  private(set) var rows: [Row] = []

  /// Loads of a link whose bandwidth changes slowly, a little, and fast.
  static func loads() throws -> [PoolLoad] {
    try [
      ("dips-slow.json", EmbeddedResources.dipsSlowJSON),
      ("dips-mild.json", EmbeddedResources.dipsMildJSON),
      ("dips-fast.json", EmbeddedResources.dipsFastJSON),
    ].map { try PoolLoad(reading: Data($1.utf8), file: $0) }
  }

  init(isInterrupted: () -> Bool) throws {
    for load in try Self.loads() {
      if isInterrupted() { throw RuntimeError.interrupted }
      let simulation = PoolSimulation(load)
      let outcomes = Self.contenders.map { simulation.run($0) }
      for (contender, outcome) in zip(Self.contenders, outcomes) {
        rows.append(
          Row(
            load: load.name, pool: contender.name, outcome: outcome,
            change: Self.change(from: outcomes[0].lost, to: outcome.lost)))
      }
    }
  }

  static func change(from base: Int, to lost: Int) -> Int? {
    guard base > 0 else { return nil }
    let difference = (lost - base) * 100
    return (difference + (difference < 0 ? -base : base) / 2) / base
  }

  var result: PoolStudyResult {
    var shown = StudyTable(columns: [
      .word("load"), .word("pool"), .init("lost"), .init("of all", key: "lostPercent"),
      .init("change", key: "changePercent"), .init("mean"),
    ])
    shown.rows = rows.map { row in
      [
        .word(row.load), .word(row.pool), .count(row.outcome.lost),
        .share(row.outcome.stallsPerTenThousand), row.change.map { .change($0) } ?? .none,
        .mean(row.outcome.meanHundredths),
      ]
    }
    return PoolStudyResult(text: shown.lines.joined(separator: "\n"), json: shown.json)
  }
}
