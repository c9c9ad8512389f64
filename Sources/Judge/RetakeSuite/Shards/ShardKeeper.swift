import RetakeReport
import RetakeRuntime

/// Runs cases of a shard, and keeps the result of each in a store when it has ended.
struct ShardKeeper: Sendable {
  let store: ShardStore
  let runner: CaseRunner
  let builder: ReportBuilder
  /// The facts of the run, without records.
  let report: SuiteReport

  /// - Parameter attempts: The attempts at this case whose processes were killed.
  func record(
    of item: ShardPlan.Item, after attempts: Int, _ selected: SelectedCase,
    progress: @escaping (Int, Int) -> Void
  ) throws -> CaseRecord {
    var selected = selected
    if attempts >= ShardStore.attemptsMax {
      selected.problem = ShardError.poison(item.key, file: store.file(of: item))
    }
    return try record(of: item, after: attempts) { try runner.run(selected, progress: progress) }
  }

  func record(
    of item: ShardPlan.Item, after attempts: Int = 0, _ run: () throws -> CaseResult
  ) throws -> CaseRecord {
    let clock = WallClock()
    let start = clock.monotonicNanoseconds
    return try store.publish(item, after: attempts) {
      let result = try run()
      var (builder, report) = (builder, report)
      report.records = [CaseRecord(result, builder.makeCase(result), isCI: builder.isCI)]
      report.seconds = Double(clock.monotonicNanoseconds - start) / 1e9
      return report
    }.records[0]
  }
}
