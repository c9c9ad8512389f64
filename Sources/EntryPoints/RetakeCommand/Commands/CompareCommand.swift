import ArgumentParser
import Retake
import RetakeBench

struct CompareCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compare",
    abstract: "Say which of two pipelines is closer to the labels.",
    discussion: """
      Both pipelines are replayed over each session that has labels (Labels/SESSION.json), and
      scored. The interval of a difference is a bootstrap over the sessions: 95 % of 10,000 samples
      of them have a mean difference within it. Goldens are neither read nor written.

      Examples:
        retake compare old.json new.json
        retake compare old.json new.json 'yard-*' --json
        retake compare detect-8n detect-8s          # cases of retake.yml
      """)

  @Argument(help: "The pipeline of now: a JSON file, a case of retake.yml, or example:NAME.")
  var old: String

  @Argument(help: "The pipeline that may be better.")
  var new: String

  @Argument(help: "Sessions, or globs in quotes; all sessions with labels if not given.")
  var sessions: [String] = []

  @Option(parsing: .unconditional, help: "Seeds the samples.", transform: Bounded.seed)
  var seed: UInt64 = 1

  @Option(
    parsing: .unconditional, help: "Worker threads. Affects speed only.",
    transform: Bounded.workers)
  var workers = RunOptions.workersDefault

  @OptionGroup var programs: ProgramOptions
  @OptionGroup var output: OutputOptions

  func run() throws {
    Interruption.listen()
    let line = ProgressLine(isQuiet: output.quiet)
    defer { line.finish() }
    var comparison = LabelledComparison(project: try programs.project(), old: old, new: new)
    comparison.sessions = sessions
    comparison.seed = seed
    comparison.options = RunOptions(
      workers: workers, isInterrupted: { Interruption.isRequested })
    comparison.progress = { line.update($0, done: $1, total: $2) }
    let outcome = try comparison.run()
    line.finish()
    if output.json { return try Console.json(outcome) }
    Console.result(visibleLines(ComparisonText.text(outcome), keepsColors: false))
    for note in outcome.notes { output.note(visible("note: \(note)")) }
  }
}

/// The outcome of `retake compare` as tables for people.
private enum ComparisonText {
  static func text(_ outcome: LabelledComparison.Outcome) -> String {
    (sessions(outcome) + [""] + metrics(outcome) + ["", conclusion(outcome)]).joined(
      separator: "\n")
  }

  private static func sessions(_ outcome: LabelledComparison.Outcome) -> [String] {
    let name = mainMetric(outcome)?.metric ?? ""
    return TextTable(
      headings: ["session", "labelled", "better", "worse", "worst frame", "\(name) old", "new"],
      rows: outcome.sessions.map { row in
        [
          row.session, "\(row.labelled)", "\(row.better)", "\(row.worse)", row.worst ?? "-",
          number(row.old[name]), number(row.new[name]),
        ]
      }, wordColumns: [0]
    ).lines
  }

  private static func metrics(_ outcome: LabelledComparison.Outcome) -> [String] {
    TextTable(
      headings: ["metric", "sessions", "old", "new", "change", "95 % interval", ""],
      rows: outcome.metrics.map { change in
        [
          change.metric, "\(change.sessions)", number(change.old), number(change.new),
          signed(change.difference), interval(change) ?? "-", change.word,
        ]
      }, wordColumns: [0, 6]
    ).lines
  }

  private static func mainMetric(_ outcome: LabelledComparison.Outcome) -> MetricChange? {
    outcome.metrics.first { $0.metric == "ap50" } ?? outcome.metrics.first
  }

  private static func conclusion(_ outcome: LabelledComparison.Outcome) -> String {
    guard let change = mainMetric(outcome) else {
      return "no metric can be computed from these labels and results"
    }
    let figures = "\(change.metric) \(signed(change.difference))"
    guard let interval = interval(change) else {
      return "\(outcome.new): \(figures) on one session; label more sessions to know whether this "
        + "is more than chance"
    }
    let word =
      change.word == "unclear" ? "not clearly better or worse" : change.word
    return "\(outcome.new) is \(word): \(figures) (\(interval))"
  }

  private static func interval(_ change: MetricChange) -> String? {
    guard let low = change.low, let high = change.high else { return nil }
    return "\(signed(low)) to \(signed(high))"
  }

  private static func signed(_ value: Double) -> String {
    let text = number(value)
    return value > 0 && text != "0" ? "+\(text)" : text
  }

  private static func number(_ value: Double?) -> String {
    guard let value else { return "-" }
    guard abs(value) < 1e12 else { return "\(value)" }
    return FixedPoint.text(Int((value * 10_000).rounded()), digits: 4)
  }
}
