import RetakeBench
import RetakeCore

/// The statements of the article on predictive frame allocation, next to the results of Retake's
/// trials.
enum AllocationArticle {
  /// One row for each statement: in words, the article's figure, and the figure of the trials. All
  /// of it is computed now, in virtual time, and is the same on every machine.
  ///
  /// - Throws: The error of a trial.
  static func rows() throws -> [ArticleStatement] {
    let scan = try Trials(PoolLoad.scan())
    return try stallRows(scan) + memoryRows(scan) + otherRows()
  }

  /// The pools of the article on one load, with the engine.
  private struct Trials {
    let fixed8: PoolFigures
    let fixed16: PoolFigures
    let adaptive: PoolFigures
    let small: PoolFigures

    init(_ load: PoolLoad) throws {
      fixed8 = try PoolTrial(load, PoolContender("fixed 8", capacity: 8)).run()
      fixed16 = try PoolTrial(load, PoolContender("fixed 16", capacity: 16)).run()
      adaptive = try PoolTrial(load, .large).run()
      small = try PoolTrial(load, .steady).run()
    }
  }

  private static func share(_ row: PoolFigures) -> String {
    FixedPoint.padded(row.stallsPerTenThousand, digits: 2) + " %"
  }

  private static func permille(_ value: Int) -> String {
    FixedPoint.padded(value, digits: 1) + " %"
  }

  /// How much smaller a number is than another, in percent, rounded down.
  private static func fewer(_ value: Int, than other: Int) -> String {
    "\((other - value) * 100 / max(1, other)) %"
  }

  private static func megabytes(_ bytes: Int) -> String {
    TextTable.megabytes(bytes) + " MB"
  }

  private static func stallRows(
    _ trials: Trials
  ) -> [ArticleStatement] {
    let (eight, waits) = (trials.fixed8, trials.fixed8.waits)
    let prompt = trials.adaptive.waits?.promptPerTenThousand ?? 0
    let length =
      waits.map {
        "\(TextTable.milliseconds($0.median)) ms median, \(TextTable.milliseconds($0.p95)) ms p95"
      } ?? "-"
    return [
      ("frames that stall with 8 buffers", "12 %", share(eight)),
      ("frames that stall with 16 buffers", "3 %", share(trials.fixed16)),
      (
        "frames that stall with the adaptive pool (here 4-16, no breaker)", "3.2 %",
        share(trials.adaptive)
      ),
      ("the same with 4-12 buffers, no breaker", "3.2 %", share(trials.small)),
      (
        "fewer stalls than with 8 buffers", "73 %",
        fewer(trials.adaptive.stalls, than: eight.stalls)
      ),
      ("length of a stall with 8 buffers", "8-22 ms", length),
      (
        "frames that have a buffer within 5 ms, adaptive", "99.7 %",
        FixedPoint.padded(prompt, digits: 2) + " %"
      ),
    ]
  }

  private static func memoryRows(
    _ trials: Trials
  ) -> [ArticleStatement] {
    let (eight, sixteen, adaptive) = (trials.fixed8, trials.fixed16, trials.adaptive)
    return [
      ("memory of 8 buffers", "48 MB", megabytes(eight.meanBytes)),
      ("memory of 16 buffers", "96 MB", megabytes(sixteen.meanBytes)),
      ("mean memory of the adaptive pool", "58 MB", megabytes(adaptive.meanBytes)),
      (
        "less memory than 16 buffers, on average", "40 %",
        fewer(adaptive.meanBytes, than: sixteen.meanBytes)
      ),
      (
        "memory of the adaptive pool when idle", "32 MB",
        megabytes(adaptive.fewestBuffers * adaptive.peakBytes / max(1, adaptive.peakBuffers))
      ),
      (
        "use at the peak with 8, with 16, adaptive", "89, 52, 68 %",
        [eight, sixteen, adaptive].map { permille($0.busiestPermille) }.joined(separator: ", ")
      ),
    ]
  }

  private static func otherRows() throws -> [ArticleStatement] {
    let swing = try PoolSwing(isInterrupted: { false }).shortest
    let packets = try PoolPackets(isInterrupted: { false })
    let slow = packets.rows.first {
      $0.load == "dips-slow" && $0.pool == PoolContender.large.name
    }
    let failures = try PoolFailures.all.get()
    return [
      (
        "time in changes of size that are undone, without and with hysteresis", "8 to 0.4 %",
        "\(FixedPoint.padded(swing.hasty, digits: 2)) to "
          + "\(FixedPoint.padded(swing.steady, digits: 2)) %"
      ),
      (
        "packets lost while the bandwidth changes, compared with a fixed pool", "-19 %",
        slow?.change.map { "\($0) %" } ?? "-"
      ),
      (
        "sessions in which a buffer could not be made (here injected); recovered", "0.02 %; all",
        FixedPoint.padded(failures.affectedPerTenThousand, digits: 2)
          + " %; \(failures.allRecovered ? "all" : "not all")"
      ),
    ]
  }
}
