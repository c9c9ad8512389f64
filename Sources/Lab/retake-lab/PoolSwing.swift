import RetakeBench
import RetakeBuffers
import RetakeCore
import RetakeRuntime

/// How much of the time a pool spends in changes of size that it undoes soon, with and without
/// hysteresis, while hard and easy frames alternate.
struct PoolSwing: Sendable {
  /// A change is undone if its opposite follows within this number of windows.
  private static let windows: Int64 = 6
  private static let hard: [Int64] = [500, 700, 1_000, 1_500, 2_000, 3_000]
  private static let easy: [Int64] = [500, 1_000, 1_500, 2_000, 3_000]

  /// All loads with hard frames for one time, by pool.
  struct Row: Sendable {
    var hardMilliseconds: Int64
    var pool: String
    /// In hundredths of a percent of the time, the mean over the loads.
    var steady: Int
    var hasty: Int
    var steadyStalls: Int
    var hastyStalls: Int
  }

  private(set) var rows: [Row] = []

  init(isInterrupted: () -> Bool) throws {
    for hard in Self.hard {
      let loads = Self.easy.map { PoolSimulation(Self.load(hard: hard, easy: $0)) }
      for contender in Self.contenders {
        if isInterrupted() { throw RuntimeError.interrupted }
        var without = contender
        without.adaptive?.off.insert(.hysteresis)
        let steady = loads.map { $0.run(contender) }
        let hasty = loads.map { $0.run(without) }
        rows.append(
          Row(
            hardMilliseconds: hard, pool: contender.name, steady: Self.share(steady),
            hasty: Self.share(hasty), steadyStalls: Self.stalls(steady),
            hastyStalls: Self.stalls(hasty)))
      }
    }
  }

  /// The article's pool, and the same pool with `trend`; no breaker, which would end every change
  /// of size and hide the swings.
  private static let contenders: [PoolContender] = [
    .unbroken(to: 12, .ewma), .unbroken(to: 12, .trend),
  ]

  /// The loads whose hard time is at most a second: the swings that hysteresis is for, of `ewma`.
  var shortest: (steady: Int, hasty: Int) {
    let short = rows.filter { $0.hardMilliseconds <= 1_000 && $0.pool == Self.contenders[0].name }
    func mean(_ value: (Row) -> Int) -> Int {
      short.reduce(0) { $0 + value($1) } / max(1, short.count)
    }
    return (mean(\.steady), mean(\.hasty))
  }

  private static func load(hard: Int64, easy: Int64) -> PoolLoad {
    let millisecond: Int64 = 1_000_000
    return PoolLoad(
      name: "swing-\(hard)-\(easy)", family: "swing", seed: 4_001, fps: 30, executors: 1,
      bufferBytes: 8_294_400, resizeNanoseconds: 3 * millisecond,
      phases: [
        .init(
          nanoseconds: hard * millisecond, costs: [40 * millisecond...50 * millisecond]),
        .init(nanoseconds: easy * millisecond, costs: [5 * millisecond...10 * millisecond]),
      ], repeats: Int(120_000 / (hard + easy)))
  }

  /// The time between a change and the change that undoes it, of all time, in hundredths of a
  /// percent.
  static func share(_ outcomes: [PoolSimulation.Outcome]) -> Int {
    let span = windows * PoolSizing().windowNanoseconds
    let undone = outcomes.reduce(Int64(0)) { $0 + Self.undone($1, within: span) }
    let total = outcomes.reduce(Int64(0)) { $0 + $1.nanoseconds }
    return Int((undone * 10_000 + total / 2) / total)
  }

  static func undone(_ outcome: PoolSimulation.Outcome, within span: Int64) -> Int64 {
    zip(outcome.resizes, outcome.resizes.dropFirst()).reduce(0) { sum, pair in
      let (first, second) = pair
      let isUndone = (first.to > first.from) != (second.to > second.from)
      let time = second.time - first.time
      return isUndone && time <= span ? sum + time : sum
    }
  }

  /// In hundredths of a percent of the frames.
  private static func stalls(_ outcomes: [PoolSimulation.Outcome]) -> Int {
    let frames = outcomes.reduce(0) { $0 + $1.frames }
    return (outcomes.reduce(0) { $0 + $1.stalls } * 10_000 + frames / 2) / frames
  }

  var result: PoolStudyResult {
    var table = StudyTable(columns: [
      .init("hard", key: "hardMilliseconds"), .word("pool"),
      .init("undone", key: "undonePercent"),
      .init("without", key: "undoneWithoutHysteresisPercent"),
      .init("stalls", key: "stallsPercent"),
      .init("without hysteresis", key: "stallsWithoutHysteresisPercent"),
    ])
    table.rows = rows.map { row in
      [.milliseconds(Int(row.hardMilliseconds)), .word(row.pool)]
        + [row.steady, row.hasty, row.steadyStalls, row.hastyStalls].map { .share($0) }
    }
    return PoolStudyResult(text: table.lines.joined(separator: "\n"), json: table.json)
  }
}
