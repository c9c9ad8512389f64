import RetakeCore
import RetakeGolden
import RetakeReport

/// The report of `retake test`: of one run, or of all shards of a plan.
struct SuiteReport {
  /// In the order of the report.
  var records: [CaseRecord]
  /// Notes in addition to the notes of the cases.
  var notes: [String] = []
  /// The folder of the goldens.
  var goldens: String
  /// The name of the program in commands to type.
  var program: String
  var seconds: Double
  /// When the run began, as an ISO 8601 string.
  var time: String

  /// - Parameter empty: The status of a run without any case.
  func outcome(empty: ExitStatus) -> SuiteRun.Outcome {
    let status = ExitStatus.strongest(records.map(\.status)) ?? empty
    var document = ReportDocument(
      tool: ReportTool(version: Tool.version), title: "retake test",
      exit: ReportExit(code: Int(status.rawValue)), cases: records.map(\.item))
    if records.isEmpty, status == .passed {
      document.exit.meaning = "This shard has no case to test."
    }
    let frames = records.reduce(0) { $0 + $1.frames }
    document.generatedAt = time
    document.environment = environment
    document.totals.wallSeconds = seconds
    document.totals.framesPerSecond = seconds > 0 ? Double(frames) / seconds : nil
    document.totals.cache = records.compactMap(\.cache)
      .reduce(nil) { sum, use in sum.map { $0 + use } ?? use }
    document.notes = notes + pendingNotes
    document.nameCommands(ProgramName(program))
    var outcome = SuiteRun.Outcome(status: status, document: document)
    outcome.failing = zip(document.cases, records).filter { $1.status != .passed }.map(\.0)
    outcome.frames = frames
    return outcome
  }

  private var environment: [EnvironmentRow] {
    // The most exact one: only cases with models name the class of kernels.
    let platform =
      records.map(\.platform).max { $0.count < $1.count } ?? PlatformKey.current.description
    var golden: [String: String] = [:]
    var actual: [String: String] = [:]
    for record in records {
      // Goldens may be of several ages. The order of the records is fixed, so the same entry is
      // shown in every run.
      golden.merge(record.goldenLibraries) { first, _ in first }
      actual.merge(record.libraries) { first, _ in first }
    }
    let rows = Set(golden.keys).union(actual.keys).sorted().map {
      EnvironmentRow($0, golden: golden[$0], actual: actual[$0])
    }
    return [EnvironmentRow("platform", golden: golden.isEmpty ? nil : platform, actual: platform)]
      + rows
  }

  /// Notes about differing results that could not be left pending next to their goldens.
  private var pendingNotes: [String] {
    let lost = records.filter { $0.pendingRefusal != nil }
    guard let first = lost.first, let cause = first.pendingRefusal else { return [] }
    let more = lost.count > 1 ? " and \(lost.count - 1) more" : ""
    return [
      "no pending golden of \(first.item.title)\(more): \(goldens) cannot be written "
        + "(\(cause)). Name another place: RETAKE_PENDING_DIR=DIR"
    ]
  }
}
