extension ReportDocument {
  /// The document of several runs, such as the runs of a test runner that runs each case by itself.
  ///
  /// - Parameters:
  ///   - documents: The runs. Their cases are sorted, so that their order makes no difference.
  ///   - exit: The status of all runs together.
  ///   - frames: The frames that all runs replayed.
  ///   - seconds: The duration of all runs together, some of which may have been concurrent.
  package init(
    merging documents: [ReportDocument], tool: ReportTool, title: String, exit: ReportExit,
    frames: Int, seconds: Double
  ) {
    let cases = documents.flatMap(\.cases).sorted { ($0.session, $0.name) < ($1.session, $1.name) }
    self.init(tool: tool, title: title, exit: exit, cases: cases)
    generatedAt = documents.compactMap(\.generatedAt).min()
    environment = Self.rows(documents.sorted { $0.firstTitle < $1.firstTitle })
    errors = documents.flatMap(\.errors)
    for note in documents.flatMap(\.notes) where !notes.contains(note) { notes.append(note) }
    totals.wallSeconds = seconds
    totals.framesPerSecond = seconds > 0 ? Double(frames) / seconds : nil
    totals.cache = documents.compactMap(\.totals.cache)
      .reduce(nil) { sum, use in sum.map { $0 + use } ?? use }
  }

  private var firstTitle: String { cases.first?.title ?? "" }

  /// Each fact once, from the first document that has it.
  private static func rows(_ documents: [ReportDocument]) -> [EnvironmentRow] {
    var rows: [EnvironmentRow] = []
    for row in documents.flatMap(\.environment) {
      if let index = rows.firstIndex(where: { $0.name == row.name }) {
        rows[index].golden = rows[index].golden ?? row.golden
        rows[index].actual = rows[index].actual ?? row.actual
      } else {
        rows.append(row)
      }
    }
    return rows
  }
}
